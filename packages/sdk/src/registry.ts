/** The types that the prompt registry declares for one prompt. */
import type { PromptRegistry, RegistryConfig } from './prompt-registry.ts'

/** The kind of a response: `'text'`, or the type that the prompt's `schema` allows. */
export type OutputKind = unknown

/** Whether a prompt responds with text. A union with the word `text` is a schema that allows it. */
export type IsText<O extends OutputKind> = unknown extends O ? false : [O] extends ['text'] ? true : false

/** A value while it arrives: keys and items may be missing, strings and numbers may be cut. */
export type DeepPartial<T> = T extends string
  ? string
  : T extends number
    ? number
    : T extends readonly (infer I)[]
      ? DeepPartial<I>[]
      : T extends object
        ? { [K in keyof T]?: DeepPartial<T[K]> }
        : T

/** The items of `objectStream`: any value if the type of the answer is unknown. */
export type PartialObject<O extends OutputKind> = IsText<O> extends true ? unknown : DeepPartial<O>

/** The object type without any required key. */
export type Nothing = Record<never, never>

type Known<R> = Extract<keyof R, string>
type Entry<R, P> = P extends keyof R ? R[P] : Nothing

/** A prompt path. Editors complete those of the registry. Others are allowed unless `strictPaths` is set. */
export type PromptPath<R = PromptRegistry> = RegistryConfig extends { strictPaths: true }
  ? Known<R>
  : Known<R> | (string & Nothing)

/** The parameters that prompt `P` takes. */
export type ParamsOf<R, P> = Entry<R, P> extends { parameters: infer X } ? X : Record<string, unknown>

/** The arguments of the tools that prompt `P` declares, by tool name. */
export type ToolsOf<R, P> = Entry<R, P> extends { tools: infer T } ? T : Nothing

/** The answer type of prompt `P`. */
export type OutputOf<R, P> = Entry<R, P> extends { output: infer O } ? O : 'text'
