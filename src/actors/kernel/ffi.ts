/**
 * Functions of the C library through `node:ffi`: no native add-on. It is not there where the runtime was started without
 * `--experimental-ffi`, and a library may lack a function (musl has no `mallopt`): whoever asks goes on without.
 */
export type NativeFunction = (...values: readonly (number | bigint)[]) => number | bigint;

export interface Ffi {
  dlopen(
    path: null,
    functions: Readonly<Record<string, { readonly arguments: readonly string[]; readonly return: string }>>,
  ): { readonly functions: Readonly<Record<string, NativeFunction>> };
  getRawPointer(source: ArrayBufferView): bigint;
}

/** Undefined where the runtime has none, or was told not to have it. Its being experimental is no news to users. */
export function loadFfi(): Ffi | undefined {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return process.getBuiltinModule('node:ffi') as unknown as Ffi | undefined;
  } catch {
    return undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Undefined where the library has no such function. `types`, `result`: as `node:ffi` names them. */
export function nativeFunction(
  ffi: Ffi,
  name: string,
  types: readonly string[],
  result = 'i32',
): NativeFunction | undefined {
  try {
    return ffi.dlopen(null, { [name]: { arguments: types, return: result } }).functions[name];
  } catch {
    return undefined;
  }
}
