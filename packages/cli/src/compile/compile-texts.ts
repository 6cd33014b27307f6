import type { PromptScan } from '@stet/template'

/**
 * Compiles prompts by the rules of the server. References are looked up among `texts` first, then among `others`.
 *
 * @returns what each of `texts` says about itself, its errors with positions in the text included
 */
export async function compileTexts(
  texts: ReadonlyMap<string, string>,
  others: ReadonlyMap<string, string> = new Map(),
): Promise<Map<string, PromptScan>> {
  // The engine is most of the program: only commands that compile load it.
  const { scan } = await import('@stet/template')
  const documents = Object.fromEntries([...others, ...texts])
  const scans = new Map<string, PromptScan>()
  for (const [path, content] of texts) scans.set(path, await scan({ path, content, documents }))
  return scans
}
