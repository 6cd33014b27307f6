import { LRUCache } from 'lru-cache'
import type {
  Compilation,
  HashedText,
  KnownText,
  KnownTexts,
  TemplateScan,
} from '../../features/templates/template-engine.ts'
import { heldBytes } from '../../shared/json-limits.ts'

export function createScanCache() {
  const kept = new LRUCache<string, TemplateScan>({
    max: 2_000,
    maxSize: 32 * 1024 * 1024,
    // Measures the complete scan, because a short text may resolve to a large one.
    sizeCalculation: heldBytes,
  })
  const running = new Map<string, Promise<TemplateScan>>()
  return {
    async get(hash: string, read: () => Promise<TemplateScan>): Promise<TemplateScan> {
      for (;;) {
        const known = kept.get(hash)
        if (known) return known
        const shared = running.get(hash)
        if (!shared) break
        // A shared scan rejects if its first caller disconnects or reaches a limit. The other callers try again.
        const scan = await shared.catch(() => undefined)
        if (scan) return scan
      }
      try {
        const reading = read()
        running.set(hash, reading)
        const scan = await reading
        if (!scan.isTemporary) kept.set(hash, scan)
        return scan
      } finally {
        running.delete(hash)
      }
    },
  }
}

interface Finding {
  known: KnownText
  hashes: Compilation['hashes']
  size: number
}

// Live and a few drafts may show the same text with different references.
const findingsPerText = 4

const mostCharacters = 16_777_216

export function createKnownTexts(): KnownTexts {
  const found = new LRUCache<string, Finding[]>({
    maxSize: mostCharacters,
    sizeCalculation: (findings) => findings.reduce((sum, { size }) => sum + size, 0),
  })
  const keyOf = (workspaceId: number, { path, contentHash }: HashedText) => `${workspaceId}:${contentHash}:${path}`
  return {
    note(workspaceId, text, { scan, hashes }) {
      if (scan.isTemporary) return
      const key = keyOf(workspaceId, text)
      const findings = found.get(key) ?? []
      // The same texts give the same result.
      if (findings.some((finding) => areEqual(finding.hashes, hashes))) return
      found.set(key, [findingOf(scan, hashes), ...findings].slice(0, findingsPerText))
    },
    *pathsFor(workspaceId, text) {
      for (const { hashes } of found.get(keyOf(workspaceId, text)) ?? []) yield* hashes.keys()
    },
    find(workspaceId, text, hashAt) {
      const findings = found.get(keyOf(workspaceId, text)) ?? []
      return findings.find(({ hashes }) => holds(hashes, hashAt))?.known
    },
  }
}

function findingOf(
  { config, parameters, references, errors, issues }: TemplateScan,
  hashes: Compilation['hashes'],
): Finding {
  const known = { config, parameters, references, errors, issues }
  return { known, hashes, size: JSON.stringify([known, ...hashes]).length }
}

function holds(hashes: Compilation['hashes'], hashAt: (path: string) => string | undefined): boolean {
  for (const [path, hash] of hashes) if ((hashAt(path) ?? null) !== hash) return false
  return true
}

function areEqual(one: Compilation['hashes'], other: Compilation['hashes']): boolean {
  return one.size === other.size && holds(one, (path) => other.get(path) ?? undefined)
}
