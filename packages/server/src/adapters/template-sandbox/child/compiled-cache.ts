import { type CompiledPrompt, compilePrompt, type PromptSource } from '@stet/template'

export interface CompiledCache {
  get(source: PromptSource): Promise<CompiledPrompt>
}

const MAX_ENTRIES = 50
/** A tree takes up to some 150 bytes for each character of its text. */
const MAX_TOTAL_CHARS = 200_000

/** Keeps the texts compiled last; nothing in them depends on parameters. */
export function createCompiledCache(): CompiledCache {
  const entries = new Map<string, { prompt: CompiledPrompt; chars: number }>()
  let totalChars = 0
  const drop = (key: string): void => {
    totalChars -= entries.get(key)?.chars ?? 0
    entries.delete(key)
  }
  return {
    async get(source) {
      const key = JSON.stringify([source.path, source.content, source.documents])
      const known = entries.get(key)
      const prompt = known?.prompt ?? (await compilePrompt(source))
      drop(key)
      const chars = key.length + prompt.resolvedContent.length
      entries.set(key, { prompt, chars })
      totalChars += chars
      for (const oldest of entries.keys()) {
        if (entries.size <= MAX_ENTRIES && totalChars <= MAX_TOTAL_CHARS) break
        drop(oldest)
      }
      return prompt
    },
  }
}
