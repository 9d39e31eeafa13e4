/**
 * The subset of JSON Schema that configs, handler inputs and messages are described in. A schema is plain
 * data: it crosses threads, is printed by `colibri schema`, and is checked by `checkSchema`.
 */
export interface JsonSchema {
  readonly type?:
    | 'object'
    | 'array'
    | 'string'
    | 'number'
    | 'integer'
    | 'boolean'
    | 'null'
    | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  /** `false`: keys that are not listed are problems, with a suggestion. A schema: every other value is checked by it. */
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  /** Said instead of the bare pattern: `expected ${patternMeaning}`. */
  readonly patternMeaning?: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly anyOf?: readonly JsonSchema[];
}
