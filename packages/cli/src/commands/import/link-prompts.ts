import { posix } from 'node:path'
import { defined } from '@stet/template/defined'
import { loadEngine } from '../../compile/compile-texts.ts'
import { isJsonObject } from '../../settings/json-file.ts'
import { problemOfPath } from '../../sync/prompt-path.ts'
import type { ForeignPrompt, ImportedPrompt } from './imported-prompt.ts'
import { formatFront, member, print, type Reference, replaceMarks } from './prompt-text.ts'

/** The server's limit for nested references. */
const maxReferenceDepth = 10

interface Settled {
  foreign: ForeignPrompt
  path: string
  needs: Map<string, string>
}

/**
 * Assigns paths, rewrites references to them, passes variables to referenced prompts and declares all variables.
 */
export async function linkPrompts(foreign: readonly ForeignPrompt[]): Promise<ImportedPrompt[]> {
  const { resolveReferencePath, scan } = await loadEngine()
  const paths = settlePaths(foreign.map(({ path }) => path))
  const prompts = foreign.map((one, index): Settled => ({ foreign: one, path: paths[index] ?? '', needs: new Map() }))
  const find = finder(prompts)
  for (const { foreign, path, needs } of prompts) {
    if (!foreign.front) continue
    const { parameters } = await scan({ path, content: withoutReferences(foreign), documents: {} })
    for (const name of parameters) needs.set(name, foreign.types?.get(name) ?? 'text')
  }
  inheritNeeds(prompts, find)
  return prompts.map((prompt): ImportedPrompt => {
    const { path, foreign } = prompt
    const { source, line } = foreign
    const losses = [...foreign.losses]
    if (path !== foreign.path) losses.push(`"${foreign.path}" is now named "${path}"`)
    const content = foreign.front ? linkConverted(prompt, find) : linkVerbatim(prompt, find, resolveReferencePath)
    return defined({ path, content, losses, source, line })
  })
}

type Find = (name: string, from: ForeignPrompt) => Settled | undefined

/** If several prompts have the same name, the one in the same file wins. */
function finder(prompts: readonly Settled[]): Find {
  const byName = new Map<string, Settled[]>()
  for (const prompt of prompts) {
    const { path, key = path } = prompt.foreign
    byName.set(key, [...(byName.get(key) ?? []), prompt])
  }
  return (name, { source }) => {
    const found = byName.get(name) ?? []
    return found.find(({ foreign }) => foreign.source === source) ?? found[0]
  }
}

function withoutReferences({ text, references = [] }: ForeignPrompt): string {
  return replaceMarks(text, references, ({ passed, context }) => {
    const expressions = [...passed.values(), ...(context === undefined ? [] : [context])]
    return expressions.map(print).join('')
  })
}

function inheritNeeds(prompts: readonly Settled[], find: Find): void {
  for (let round = 0; round < maxReferenceDepth; round += 1) {
    for (const { foreign, needs } of prompts) {
      for (const reference of foreign.references ?? []) {
        if (reference.context !== undefined) continue
        for (const [name, type] of find(reference.target, foreign)?.needs ?? []) {
          if (!reference.passed.has(name) && !needs.has(name)) needs.set(name, type)
        }
      }
    }
  }
}

function linkConverted({ foreign, path, needs }: Settled, find: Find): string {
  const text = replaceMarks(foreign.text, foreign.references ?? [], (reference) => {
    const target = find(reference.target, foreign)
    return formatReference(reference, target, path)
  })
  const declared = isJsonObject(foreign.front?.['parameters']) ? foreign.front['parameters'] : {}
  const found = Object.fromEntries([...needs].map(([name, type]) => [name, { type }]))
  const parameters = { ...found, ...declared }
  return formatFront({ ...foreign.front, ...(Object.keys(parameters).length > 0 && { parameters }) }) + text
}

function formatReference(reference: Reference, target: Settled | undefined, from: string): string {
  const { passed, context } = reference
  const needed = [...(target?.needs.keys() ?? [])].filter((name) => !passed.has(name))
  const passedAs = (name: string): string =>
    context === undefined ? name : member(context, target?.foreign.sources?.get(name) ?? name)
  const inherited = needed.map((name) => [name, passedAs(name)] as const)
  const attributes = [...passed, ...inherited].map(([name, expression]) => ` ${name}={{ ${expression} }}`)
  // If the target was not imported, its name becomes a valid path.
  const to = target?.path ?? settlePaths([reference.target])[0] ?? ''
  return `<prompt path="${relativePath(to, from)}"${attributes.join('')} />`
}

const referenceTag = /(<prompt\s(?:[^>]*?\s)?path=)("[^"]*"|'[^']*')/g

/** Changes only the references to renamed prompts. */
function linkVerbatim(
  { foreign, path }: Settled,
  find: Find,
  resolve: (path: string, from: string) => string | undefined,
): string {
  return foreign.text.replaceAll(referenceTag, (tag: string, opening: string, quoted: string) => {
    const written = quoted.slice(1, -1)
    const name = resolve(written, foreign.path)
    const target = name === undefined ? undefined : find(name, foreign)
    if (!target || resolve(written, path) === target.path) return tag
    return `${opening}"${relativePath(target.path, path)}"`
  })
}

// Uses relative paths, so that the files can move together.
function relativePath(target: string, from: string): string {
  return posix.relative(posix.dirname(from), target)
}

// These limits are below those of file systems and the server. They leave room for an extension and a number.
const maxSegmentBytes = 200
const maxPathBytes = 480

/** Converts names to paths that the server and every file system accept. Repeated paths get a number as a suffix. */
export function settlePaths(names: readonly string[]): string[] {
  // Ignores case, because some file systems do.
  const taken = new Set<string>()
  return names.map((name) => {
    const segments = name
      .normalize('NFC')
      .split('/')
      .map(safeSegment)
      .filter((segment) => segment !== '')
    while (Buffer.byteLength(segments.join('/')) > maxPathBytes) segments.shift()
    const first = segments.join('/') || 'prompt'
    let path = first
    for (let number = 2; taken.has(path.toLowerCase()); number += 1) path = `${first}-${number}`
    taken.add(path.toLowerCase())
    return path
  })
}

function safeSegment(segment: string): string {
  const known = segment.trim().replaceAll(/[^\p{L}\p{M}\p{Nd}_.-]+/gu, '-')
  const inner = known === segment ? known : known.replaceAll(/^-+|-+$/g, '')
  const plain = shortened(inner).replace(/(?<!\.)\.+$/, '')
  return plain !== '' && problemOfPath(plain) ? `_${plain}` : plain
}

function shortened(text: string): string {
  const kept = [...text]
  while (Buffer.byteLength(kept.join('')) > maxSegmentBytes) kept.length -= Math.max(1, kept.length - maxSegmentBytes)
  return kept.join('')
}
