import type { Message } from '../index.ts'
import type { RenderChainOptions, Rendered, RenderOptions, Source } from './options.ts'

/**
 * Renders a prompt locally with the server's engine, rules and errors. For a prompt with `<step>` tags, this renders
 * the first step. `renderChain` renders all of them.
 *
 * @example
 * const prompt = await stet.prompts.get('support/reply')
 * const { config, messages } = await render(prompt, { parameters: { ticket }, adapter: 'openai' })
 */
export async function render<M = Message>(prompt: Source, o: RenderOptions = {}): Promise<Rendered<M>> {
  const { renderFirst } = await import('./engine.ts')
  return renderFirst<M>(prompt, o)
}

/**
 * Renders a prompt step by step. `onStep` calls the model, and `tools` answers its tool calls. Resolves to the whole
 * conversation and the configuration of the last step.
 *
 * @example
 * const { messages } = await renderChain(await stet.prompts.get('support/steps'), {
 *   parameters: { ticket },
 *   onStep: async ({ config, messages }) => askModel(config, messages),
 * })
 */
export async function renderChain<M = Message>(prompt: Source, o: RenderChainOptions<M>): Promise<Rendered<M>> {
  const { renderSteps } = await import('./engine.ts')
  return renderSteps<M>(prompt, o)
}
