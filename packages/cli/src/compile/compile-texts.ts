import type { PromptScan } from '@stet/template'

/** The engine is most of the program: only commands that compile load it. */
export async function loadEngine(): Promise<Pick<typeof import('@stet/template'), 'scan' | 'resolveReferencePath'>> {
  // Named imports let the bundler drop the rest.
  const { scan, resolveReferencePath } = await import('@stet/template')
  return { scan, resolveReferencePath }
}

/**
 * Compiles prompts by the rules of the server. References are looked up among `texts` first, then among `others`.
 *
 * @returns what each of `texts` declares, including its errors with positions
 */
export async function compileTexts(
  texts: ReadonlyMap<string, string>,
  others: ReadonlyMap<string, string> = new Map(),
): Promise<Map<string, PromptScan>> {
  const { scan } = await loadEngine()
  const documents = Object.fromEntries([...others, ...texts])
  const scans = new Map<string, PromptScan>()
  for (const [path, content] of texts) scans.set(path, await scan({ path, content, documents }))
  return scans
}
