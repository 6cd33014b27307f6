/**
 * Your project's prompts and their types. This interface is empty by default. Generated types augment it.
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
// biome-ignore lint/suspicious/noEmptyInterface: applications augment it
export interface PromptRegistry {}

/**
 * Registry settings. With `{ strictPaths: true }`, a path outside the registry is a compile error.
 *
 * @example
 * declare module '@stet/sdk' {
 *   interface RegistryConfig { strictPaths: true }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: applications augment it
export interface RegistryConfig {}
