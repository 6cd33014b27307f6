import { LRUCache } from 'lru-cache'
import type { KnownText, KnownTexts } from '../../features/templates/template-engine.ts'

interface Finding extends KnownText {
  references: ReadonlyMap<string, string | null>
}

// Live and a few drafts may show the same text with different references.
const findingsPerText = 4

/** An entry counts 1, plus 1 for each reference: at most about 10 MB. */
const maxEntries = 50_000

export function createKnownTexts(): KnownTexts {
  const known = new LRUCache<string, Finding[]>({
    maxSize: maxEntries,
    sizeCalculation: (findings) => findings.reduce((size, { references }) => size + 1 + references.size, 0),
  })
  const keyOf = (workspaceId: number, { path, contentHash }: { path: string; contentHash: string }) =>
    `${workspaceId}:${contentHash}:${path}`
  return {
    note(workspaceId, text, { scan, references }) {
      if (scan.isTemporary) return
      const key = keyOf(workspaceId, text)
      const others = (known.get(key) ?? []).filter((finding) => !areEqual(finding.references, references))
      const finding = { compiles: scan.errors.length === 0, isAgent: scan.config['type'] === 'agent', references }
      known.set(key, [finding, ...others].slice(0, findingsPerText))
    },
    find(workspaceId, text, hashAt) {
      const findings = known.get(keyOf(workspaceId, text)) ?? []
      return findings.find(({ references }) => holds(references, hashAt))
    },
  }
}

function holds(references: Finding['references'], hashAt: (path: string) => string | undefined): boolean {
  for (const [path, hash] of references) if ((hashAt(path) ?? null) !== hash) return false
  return true
}

function areEqual(one: Finding['references'], other: Finding['references']): boolean {
  return one.size === other.size && holds(one, (path) => other.get(path) ?? undefined)
}
