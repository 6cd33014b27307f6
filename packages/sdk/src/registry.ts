import type { PromptRegistry, RegistryConfig } from './prompt-registry.ts'

/** The kind of response: `'text'`, or the type that the prompt's `schema` defines. */
export type OutputKind = unknown

/** True if the prompt responds with text. A union that merely includes `'text'` comes from a schema. */
export type IsText<O extends OutputKind> = unknown extends O ? false : [O] extends ['text'] ? true : false

/** A value that is still streaming: keys and items may be missing, and strings and numbers may be incomplete. */
export type DeepPartial<T> = T extends string
  ? string
  : T extends number
    ? number
    : T extends readonly (infer I)[]
      ? DeepPartial<I>[]
      : T extends object
        ? { [K in keyof T]?: DeepPartial<T[K]> }
        : T

/** The type of the items of `objectStream`. Unknown if the response type is text or unknown. */
export type PartialObject<O extends OutputKind> = IsText<O> extends true ? unknown : DeepPartial<O>

/** An object type with no required keys. */
export type Nothing = Record<never, never>

type Known<R> = Extract<keyof R, string>
type Entry<R, P> = P extends keyof R ? R[P] : Nothing

/** A prompt path. Editors complete the paths in the registry. Without `strictPaths`, other paths compile too. */
export type PromptPath<R = PromptRegistry> = RegistryConfig extends { strictPaths: true }
  ? Known<R>
  : Known<R> | (string & Nothing)

/** The parameters of prompt `P`. */
export type ParamsOf<R, P> = Entry<R, P> extends { parameters: infer X } ? X : Record<string, unknown>

/** The tool arguments of prompt `P`, by tool name. */
export type ToolsOf<R, P> = Entry<R, P> extends { tools: infer T } ? T : Nothing

/** The response type of prompt `P`. */
export type OutputOf<R, P> = Entry<R, P> extends { output: infer O } ? O : 'text'
