import type { PromptScan } from '@stet/template'

/** The engine is most of the program: only commands that compile load it. */
export async function loadEngine(): Promise<Pick<typeof import('@stet/template'), 'scan' | 'resolveReferencePath'>> {
  // By name, so that the bundler leaves out the rest.
  const { scan, resolveReferencePath } = await import('@stet/template')
  return { scan, resolveReferencePath }
}

/**
 * Compiles prompts by the rules of the server. References are looked up among `texts` first, then among `others`.
 *
 * @returns what each of `texts` says about itself, its errors with positions in the text included
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
