/** What is left of a value that was written as JSON and read again, as TypeScript can say it. */

type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

type AnyFunction = (...args: never) => unknown;

/** A run whose result has one of them has failed. */
type Refused =
  | bigint
  | symbol
  | AnyFunction
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | AsyncIterable<unknown>
  | IterableIterator<unknown>
  | Promise<unknown>;

/**
 * A date is a text. What is undefined is null, by itself and in a list; a property that is undefined is not there, and
 * neither is a method. What JSON holds as it is stays as it is written: so it may be a type that names itself.
 */
export type AsJson<T> = 0 extends 1 & T
  ? T
  : [T] extends [JsonValue]
    ? T
    : T extends { toJSON(): infer Json }
      ? AsJson<Json>
      : T extends string | number | boolean | null
        ? T
        : T extends undefined
          ? null
          : T extends Refused
            ? never
            : T extends readonly unknown[]
              ? { [Key in keyof T]: AsJson<T[Key]> }
              : T extends object
                ? ObjectAsJson<T, KeysThatMayGo<T>>
                : // biome-ignore lint/suspicious/noConfusingVoidType: the result of a function that returns nothing
                  [T] extends [void]
                  ? null
                  : T;

/** Properties that may be undefined, and methods; of one that may be anything nothing is said. */
type KeysThatMayGo<T> = {
  [Key in keyof T]-?: unknown extends T[Key]
    ? never
    : undefined extends T[Key]
      ? Key
      : T[Key] extends AnyFunction
        ? Key
        : never;
}[keyof T];

type ObjectAsJson<T, MayGo extends keyof T> = [MayGo] extends [never]
  ? { [Key in keyof T]: AsJson<T[Key]> }
  : Flat<
      { [Key in keyof T as Key extends MayGo ? never : Key]: AsJson<T[Key]> } & {
        [Key in keyof T as Key extends MayGo
          ? Exclude<T[Key], undefined> extends AnyFunction
            ? never
            : Key
          : never]?: AsJson<Exclude<T[Key], undefined>>;
      }
    >;

type Flat<T> = { [Key in keyof T]: T[Key] };
