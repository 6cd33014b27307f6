import {
  CallerLimitError,
  type CompileIssue,
  FaultError,
  issueAt,
  normaliseLineEnds,
  type Place,
} from '../compile-error.ts'
import { childrenOf, literalText, type Tag, type TemplateNode } from '../syntax/nodes.ts'
import { type ParsedText, parseText } from './parse-text.ts'

const MAX_REFERENCE_DEPTH = 10
const MAX_REFERENCE_LOADS = 200
/** Placing an issue reads its whole document, and a document may be loaded many times. */
export const MAX_ISSUES = 20
const MAX_RESOLVED_BYTES = 1_048_576
const TOO_LARGE = 'The resolved prompt is larger than 1 MB'
// Normalizing a long run of combining marks takes quadratic time. Text above three times the path limit of 512 bytes is
// not normalized, because such text is never a valid path.
const MAX_COMPOSABLE_LENGTH = 1_536

/** One piece of the resolved text and its origin. `at` is its offset in the resolved text. */
interface Segment {
  at: number
  length: number
  origin: Place
}

export interface ResolvedText {
  /** The text after references are inlined and comments are removed. Undefined if there are issues. */
  text: string | undefined
  issues: CompileIssue[]
  references: string[]
  missing: string[]
  /** Maps offsets of the resolved text to a range in a document. */
  place(start: number, end?: number): Place
}

interface Inlining {
  documents: Readonly<Record<string, string>>
  parsed: Map<string, ParsedText>
  pieces: string[]
  segments: Segment[]
  length: number
  loads: number
  /** The texts of all loads together, and the caller's own limit for them. */
  loadedChars: number
  maxChars: number
  issues: CompileIssue[]
  missing: Set<string>
}

interface InlinedDocument {
  path: string
  parsed: ParsedText
  chain: readonly string[]
}

/**
 * Resolves `path` relative to the document `from`, or to the root if `path` begins with `/`. Returns undefined if the
 * result is outside the root or empty.
 */
export function resolveReferencePath(path: string, from: string): string | undefined {
  const segments = path.startsWith('/') ? [] : from.split('/').slice(0, -1)
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') segments.push(segment)
    else if (segments.pop() === undefined) return undefined
  }
  const resolved = segments.join('/').replace(/\.promptl$/, '')
  if (resolved === '') return undefined
  return resolved.length > MAX_COMPOSABLE_LENGTH ? resolved : resolved.normalize('NFC')
}

export function resolveText(
  path: string,
  parsed: ParsedText,
  documents: Readonly<Record<string, string>>,
  maxChars = Number.POSITIVE_INFINITY,
): ResolvedText {
  const inlining: Inlining = {
    documents,
    parsed: new Map(),
    pieces: [],
    segments: [],
    length: 0,
    loads: 0,
    loadedChars: parsed.text.length,
    maxChars,
    issues: [],
    missing: new Set(),
  }
  const references = new Set<string>()
  inlineDocument(inlining, { path, parsed, chain: [path] }, references)
  const text = inlining.pieces.join('')
  if (inlining.issues.length === 0 && new TextEncoder().encode(text).length > MAX_RESOLVED_BYTES) {
    inlining.issues.push(issueAt({ path, text: parsed.text, start: 0 }, 'limit-exceeded', TOO_LARGE))
  }
  return {
    text: inlining.issues.length === 0 ? text : undefined,
    issues: inlining.issues,
    references: [...references],
    missing: [...inlining.missing],
    place: (start, end) => placeOf(inlining.segments, { path, text: parsed.text, start: 0 }, start, end),
  }
}

function placeOf(segments: readonly Segment[], fallback: Place, start: number, end?: number): Place {
  const segment = segments.findLast((candidate) => candidate.at <= start) ?? segments[0]
  if (!segment) return fallback
  const offset = Math.min(start - segment.at, segment.length)
  const place = { ...segment.origin, start: segment.origin.start + offset }
  const fits = end !== undefined && end <= segment.at + segment.length
  return fits ? { ...place, end: segment.origin.start + end - segment.at } : place
}

/** `inserted` text belongs to no document, so it maps to the start of `origin`. */
function emit(inlining: Inlining, origin: Place, inserted?: string): void {
  const text = inserted ?? origin.text.slice(origin.start, origin.end)
  if (text === '') return
  inlining.segments.push({ at: inlining.length, length: inserted === undefined ? text.length : 0, origin })
  inlining.pieces.push(text)
  inlining.length += text.length
}

function inlineDocument(inlining: Inlining, document: InlinedDocument, references?: Set<string>): void {
  const { parsed, path } = document
  const isRoot = document.chain.length === 1
  let done = 0
  const copyUntil = (end: number): void => emit(inlining, { path, text: parsed.text, start: done, end })
  for (const { node, before } of cutsOf(parsed.fragment, isRoot)) {
    const start = node.start
    copyUntil(start)
    done = node.end
    if (node.type === 'ElementTag') inlineReference(inlining, document, node, references)
    else if (node.type === 'Comment' && gluesText(parsed.text, before, start, done)) {
      emit(inlining, { path, text: parsed.text, start }, '/**/')
    }
    if (isFull(inlining)) return
  }
  // Drops the last of an odd number of trailing backslashes, which would escape the closing tag.
  const dangling = !isRoot && /(?:^|[^\\])(?:\\\\)*\\$/.test(parsed.text) ? 1 : 0
  copyUntil(parsed.text.length - dangling)
}

function isFull({ length, loads, issues }: Inlining): boolean {
  return length > MAX_RESOLVED_BYTES || loads > MAX_REFERENCE_LOADS || issues.length >= MAX_ISSUES
}

interface Cut {
  node: TemplateNode
  before: TemplateNode | undefined
}

/** Lists the parts to remove or replace: comments, references and the front matter of referenced documents. */
function cutsOf(node: TemplateNode, isRoot: boolean, cuts: Cut[] = []): Cut[] {
  let before: TemplateNode | undefined
  for (const child of childrenOf(node)) {
    const isReference = child.type === 'ElementTag' && child.name === 'prompt'
    if (child.type === 'Comment' || isReference || (child.type === 'Config' && !isRoot)) {
      cuts.push({ node: child, before })
    } else cutsOf(child, isRoot, cuts)
    before = child
  }
  return cuts
}

/** Returns whether removing a comment could join its neighbors into a tag, an expression or another comment. */
function gluesText(text: string, before: TemplateNode | undefined, start: number, end: number): boolean {
  if (before?.type !== 'Text' || /\s/.test(text.charAt(end)) || end >= text.length) return false
  return /[{}<>/*!\\-]\S*$/.test(text.slice(Math.max(0, start - 16), start))
}

function inlineReference(inlining: Inlining, from: InlinedDocument, tag: Tag, references?: Set<string>): undefined {
  const { parsed, path } = from
  const place: Place = {
    path,
    text: parsed.text,
    start: tag.start,
    end: tag.end,
  }
  const fail = (code: string, message: string): undefined => {
    inlining.issues.push(issueAt(place, code, message))
  }
  const written = literalPath(tag)
  if (!written) return fail(...pathFault(tag))
  const target = resolveReferencePath(written, path)
  if (!target) return fail('invalid-reference-path', `The path '${written}' leaves the project`)
  references?.add(target)
  const chain = [...from.chain, target]
  if (from.chain.includes(target)) return fail('circular-reference', `Circular reference: ${chain.join(' -> ')}`)
  if (chain.length - 1 > MAX_REFERENCE_DEPTH)
    return fail('limit-exceeded', `References are nested deeper than ${MAX_REFERENCE_DEPTH}`)
  const loaded = loadReferenced(inlining, target, fail)
  if (!loaded) return undefined
  emit(inlining, place, '<scope')
  for (const attribute of tag.attributes) {
    if (attribute.name === 'path') continue
    emit(inlining, place, ' ')
    emit(inlining, { ...place, start: attribute.start, end: attribute.end })
  }
  emit(inlining, place, '>')
  inlineDocument(inlining, { path: target, parsed: loaded, chain })
  emit(inlining, place, '</scope>')
  return inlining.length > MAX_RESOLVED_BYTES ? fail('limit-exceeded', TOO_LARGE) : undefined
}

function literalPath(tag: Tag): string | undefined {
  const attribute = tag.attributes.find(({ name }) => name === 'path')
  return attribute && tag.children.length === 0 ? literalText(attribute) : undefined
}

function pathFault(tag: Tag): [code: string, message: string] {
  const value = tag.attributes.find((attribute) => attribute.name === 'path')?.value
  if (tag.children.length > 0) return ['reference-tag-has-content', 'Reference tags cannot have content']
  if (value === undefined) return ['reference-tag-without-prompt', 'Reference tags must have a `path` attribute']
  if (value !== true && value.some((part) => part.type !== 'Text')) {
    return ['invalid-static-attribute', "The attribute 'path' must only contain literal values"]
  }
  return ['invalid-reference-path', 'The path of a reference must be text']
}

function loadReferenced(
  inlining: Inlining,
  path: string,
  fail: (code: string, message: string) => undefined,
): ParsedText | undefined {
  inlining.loads += 1
  if (inlining.loads > MAX_REFERENCE_LOADS) {
    return fail('limit-exceeded', `More than ${MAX_REFERENCE_LOADS} references are loaded`)
  }
  const content = Object.hasOwn(inlining.documents, path) ? inlining.documents[path] : undefined
  inlining.loadedChars += content?.length ?? 0
  if (inlining.loadedChars > inlining.maxChars) throw new CallerLimitError()
  const known = inlining.parsed.get(path)
  if (known) return known
  if (content === undefined) {
    inlining.missing.add(path)
    return fail('reference-not-found', `The referenced document '${path}' does not exist`)
  }
  const text = normaliseLineEnds(content)
  try {
    const parsed = parseText(text)
    inlining.parsed.set(path, parsed)
    return parsed
  } catch (error) {
    if (!(error instanceof FaultError)) throw error
    inlining.issues.push(issueAt({ path, text, ...error.fault }, error.fault.code, error.fault.message))
    return undefined
  }
}
