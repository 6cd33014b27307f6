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
