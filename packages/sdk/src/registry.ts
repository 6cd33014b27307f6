/**
 * The prompts of your project and their types. Empty by default; generated types fill it through module augmentation.
 *
 * @example
 * declare module '@stet/sdk' {
 *   interface PromptRegistry {
 *     'support/reply': { parameters: { ticket: string } }
 *     'support/triage': { parameters: { ticket: string }; output: { urgency: 'low' | 'high' } }
 *     'travel/plan': { tools: { get_weather: { city: string } } }
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: it exists to be augmented
export interface PromptRegistry {}

/**
 * Switches of the registry. `{ strictPaths: true }` turns paths outside the registry into compile errors.
 *
 * @example
 * declare module '@stet/sdk' {
 *   interface RegistryConfig { strictPaths: true }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: it exists to be augmented
export interface RegistryConfig {}

/** What a run answers: text, or an object of the given shape for prompts with a `schema`. */
export type OutputKind = 'text' | Record<string | symbol, unknown>

/** The object type without any required key. */
export type Nothing = Record<never, never>

type Known<R> = Extract<keyof R, string>
type Entry<R, P> = P extends keyof R ? R[P] : Nothing

/** A prompt path: those of the registry are completed by editors, others are allowed unless `strictPaths` is set. */
export type PromptPath<R = PromptRegistry> = RegistryConfig extends { strictPaths: true }
  ? Known<R>
  : Known<R> | (string & Nothing)

/** The parameters that prompt `P` takes. */
export type ParamsOf<R, P> = Entry<R, P> extends { parameters: infer X } ? X : Record<string, unknown>

/** The arguments of the tools that prompt `P` declares, by their names. */
export type ToolsOf<R, P> = Entry<R, P> extends { tools: infer T } ? T : Nothing

/** What prompt `P` answers. */
export type OutputOf<R, P> = Entry<R, P> extends { output: infer O extends OutputKind } ? O : 'text'
