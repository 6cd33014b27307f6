import type { Base, Save } from '../autosave.ts'

/** A request with keepalive may carry 64 KB with its JSON and its headers. */
const keepaliveBytes = 60_000

interface SaveTexts {
  prompt: string
  base?: string
}

/**
 * The texts of a request that saves, and whether it outlives its page. If only the prompt is small enough for that, a
 * hidden page leaves its base out: then a colleague's change is refused instead of merged, and the page merges it.
 * A repeated request keeps its base, because the server may have stored its text.
 */
export function saveTexts(
  { text: prompt, mayBeStored }: Save,
  { contentHash, text: base }: Base,
  isHidden: boolean,
): { texts: SaveTexts; keepalive: boolean } {
  const texts = { prompt, ...(contentHash && base !== null && { base }) }
  if (!isHidden) return { texts, keepalive: false }
  if (fits(texts)) return { texts, keepalive: true }
  const keepalive = !mayBeStored && fits({ prompt })
  return { texts: keepalive ? { prompt } : texts, keepalive }
}

function fits(texts: SaveTexts): boolean {
  return new TextEncoder().encode(JSON.stringify(texts)).length < keepaliveBytes
}
