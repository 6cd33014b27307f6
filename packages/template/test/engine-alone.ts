import { Adapters, Chain } from 'promptl-ai'
import { resolveReferencePath } from '../src/index.ts'

export interface EngineStep {
  messages: Record<string, unknown>[]
  config: Record<string, unknown>
}

/** Runs a prompt in the bare engine. stet only resolves reference paths. */
export async function runEngineAlone(
  source: { path: string; content: string; documents: Readonly<Record<string, string>> },
  parameters: Record<string, unknown>,
  answers: readonly string[],
): Promise<EngineStep[]> {
  const chain = new Chain({
    prompt: source.content,
    parameters,
    adapter: Adapters.default,
    fullPath: source.path,
    referenceFn: async (written, from) => {
      const path = resolveReferencePath(written, from ?? source.path) ?? ''
      const content = source.documents[path]
      return content === undefined ? undefined : { path, content }
    },
  })
  const steps: EngineStep[] = []
  for (const answer of [undefined, ...answers]) {
    const { messages, config, completed } = await chain.step(answer)
    if (completed && answer !== undefined) break
    const { isolated, ...rest } = config
    steps.push({ messages: JSON.parse(JSON.stringify(messages)), config: rest })
  }
  return steps
}
