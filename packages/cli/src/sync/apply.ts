import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { defined } from '@stet/template/defined'
import type { LockEntry } from '../settings/lock-file.ts'
import { isWithin, problemOfName, writeFileAtomically } from '../settings/write-file.ts'
import { type Compared, lockPathOf, type PullAction } from './compare.ts'
import { hashBytes } from './hash.ts'
import { moveFiles } from './moves/move-files.ts'
import { problemOfPath, promptEnding } from './prompt-path.ts'
import type { Refusal } from './scan.ts'

export interface PullStep {
  one: Compared
  action: PullAction | 'merge-conflict' | 'move'
  /** The file's new text, if it is not the server's. */
  text?: string
  /** The base of a merge. Undefined if the sides have none. */
  baseHash?: string | undefined
  reason?: string
}

/** Returns the file of a prompt: the existing file, or the path of a new one. */
export function fileOf(promptsDir: string, { localFile, path }: Pick<Compared, 'localFile' | 'path'>): string {
  return localFile ?? join(promptsDir, path + promptEnding)
}

/** Explains why a prompt from the server cannot become a file, or returns undefined. */
export async function problemOfFile(
  promptsDir: string,
  one: Pick<Compared, 'localFile' | 'path'>,
): Promise<string | undefined> {
  const problem = problemOfPath(one.path)
  if (problem) return problem
  return (await isWithin(promptsDir, fileOf(promptsDir, one))) ? undefined : 'is outside the folder'
}

type ScannedFile = Pick<Compared, 'path' | 'localFile'> & Partial<Pick<Compared, 'localHash' | 'remoteHash'>>

/** Explains why a pull cannot write or delete a file, or returns undefined. Called immediately before the write. */
export async function problemOfWrite(promptsDir: string, one: ScannedFile): Promise<string | undefined> {
  const problem = await problemOfFile(promptsDir, one)
  if (problem) return problem
  return (await hasNewText(one)) ? 'changed during the pull (run stet pull again)' : undefined
}

// The server's text may be from an earlier step of this pull.
async function hasNewText({ localFile = '', localHash, remoteHash }: ScannedFile): Promise<boolean> {
  const hashes = await hashesIn(localFile)
  return hashes !== undefined && ![localHash, remoteHash].some((hash = '') => hashes.has(hash))
}

// Empty for a file that is not text, undefined for an absent one.
async function hashesIn(file: string): Promise<ReadonlySet<string> | undefined> {
  const bytes = await readFile(file).catch(() => undefined)
  return bytes && (hashBytes(bytes)?.hashes ?? new Set())
}

/** Writes only the files. The caller saves the lock file afterwards, so that an interrupted pull can be repeated. */
export async function applyPull(
  promptsDir: string,
  steps: readonly PullStep[],
  before: Readonly<Record<string, LockEntry>>,
): Promise<{ entries: Record<string, LockEntry>; refused: Refusal[] }> {
  const entries: Record<string, LockEntry> = { ...before }
  const refused = await followMoves(promptsDir, steps)
  const open = steps.filter(({ one }) => !refused.some(({ path }) => path === one.path))
  for (const { one } of open) if (one.move?.by === 'server') delete entries[one.move.from]
  for (const step of open) {
    const { one } = step
    const { path, move } = one
    const former = before[lockPathOf(one)]
    const problem =
      (touchesFile(step.action) ? await problemOfWrite(promptsDir, one) : undefined) ??
      (await changeFile(promptsDir, step))
    if (problem) refused.push({ path, reason: problem })
    // The file is at the new path already.
    if (problem && move?.by === 'server' && former) entries[path] = former
    if (problem) continue
    const entry = entryAfter(step, former) ?? (one.mergedLive === undefined ? undefined : {})
    const place = move?.by === 'file' ? move.from : path
    if (entry) entries[place] = withDraftNotes(entry, step, former)
    else delete entries[place]
  }
  return { entries, refused }
}

/** Moves the files of prompts that moved on the server. @returns the moves that are impossible */
async function followMoves(promptsDir: string, steps: readonly PullStep[]): Promise<Refusal[]> {
  const refused: Refusal[] = []
  const fileAt = (path: string): string => fileOf(promptsDir, { path, localFile: undefined })
  let moving = steps.map(({ one }) => one).filter(({ move }) => move?.by === 'server')
  for (const { path, localFile, localHash } of moving) {
    const problem =
      (await problemOfWrite(promptsDir, { path, localFile, localHash })) ??
      (await problemOfFile(promptsDir, { path, localFile: undefined }))
    if (problem) refused.push({ path, reason: problem })
  }
  for (;;) {
    const left = moving.filter(({ path }) => !refused.some((one) => one.path === path))
    const leaving = new Set(left.map((one) => lockPathOf(one).toLowerCase()))
    const blocked = left.filter(({ path }) => !leaving.has(path.toLowerCase()) && existsSync(fileAt(path)))
    moving = left
    if (blocked.length === 0) break
    refused.push(...blocked.map(({ path }) => ({ path, reason: 'has a file of another prompt' })))
  }
  const files = moving.flatMap(({ path, localFile }) => (localFile ? [{ from: localFile, to: fileAt(path) }] : []))
  await moveFiles(promptsDir, files)
  for (const one of moving) one.localFile = fileAt(one.path)
  return refused
}

function touchesFile(action: PullStep['action']): boolean {
  return ['write', 'merge', 'merge-conflict', 'restore', 'delete'].includes(action)
}

/** Throws errors that the name does not cause, such as a full disk. @returns why this name is invalid, or undefined */
async function changeFile(promptsDir: string, { one, action, text }: PullStep): Promise<string | undefined> {
  const file = fileOf(promptsDir, one)
  try {
    if (action === 'write' && one.remoteText !== undefined) await writeFileAtomically(file, one.remoteText)
    if (text !== undefined || action === 'delete') await replaceText(file, text)
    return undefined
  } catch (error) {
    const problem = problemOfName(error)
    if (problem === undefined) throw error
    return problem
  }
}

/**
 * Writes texts that the server merged into the files from which they were sent.
 * @returns their hashes by path, without the files that were changed or deleted since
 */
export async function writeMerged(
  promptsDir: string,
  compared: readonly Compared[],
  merged: readonly { path: string; content: string; contentHash: string }[],
): Promise<ReadonlyMap<string, string>> {
  const written = new Map<string, string>()
  for (const { path, content, contentHash } of merged) {
    const { localFile = '', localHash = '' } = compared.find((one) => one.path === path) ?? {}
    const hashes = await hashesIn(localFile)
    if (!hashes?.has(localHash) || (await problemOfFile(promptsDir, { path, localFile }))) continue
    await replaceText(localFile, content)
    written.set(path, contentHash)
  }
  return written
}

/** Keeps the file's line ends, because merges are made of texts with LF. Deletes the file if `text` is undefined. */
export async function replaceText(file: string, text: string | undefined): Promise<void> {
  if (text === undefined) return rm(file, { force: true })
  const former = await readFile(file, 'utf8').catch(() => '')
  const isCrlf = /^[^\n]*\r\n/.test(former)
  await writeFileAtomically(file, isCrlf ? text.replaceAll(/\r?\n/g, '\r\n') : text)
}

function entryAfter({ one, action, text, baseHash }: PullStep, before: LockEntry | undefined): LockEntry | undefined {
  const server = one.remoteHash === undefined ? undefined : entryOf(one.remoteHash, one.documentUuid)
  switch (action) {
    case 'write':
    case 'lock-only':
    case 'settle':
    case 'restore':
    case 'delete':
      return server
    case 'merge':
    case 'merge-conflict':
      return server && text !== one.localText && text !== one.remoteText
        ? { ...server, ...firstMerge(one, baseHash, before) }
        : server
    case 'none':
      return server ?? before
    case 'move':
      return one.state === 'local-edit' ? before : server
    case 'keep':
    case 'unresolved':
    case 'keep-deleted':
      return before
  }
}

function withDraftNotes(entry: LockEntry, { one, action }: PullStep, before: LockEntry | undefined): LockEntry {
  const { hash: _, documentUuid: __, ...notes } = before ?? {}
  // A merge with live ends if its result is no longer in the file. Until then, its notes stay together.
  const isMerged = one.mergedLive !== undefined && (action !== 'write' || notes.mine === undefined)
  const { live, movedFrom, movedTo } = notes
  const isMoved = one.move?.by === 'file' && (movedTo !== undefined || touchesFile(action))
  const kept = {
    ...(isMerged ? notes : defined({ live })),
    ...defined({ movedFrom }),
    ...entry,
    // A merge may change the text so much that the move would not be found again.
    ...(isMoved && { movedTo: one.path }),
  }
  if (one.move?.by === 'server') delete kept.movedFrom
  return kept
}

// After several merges without a push, keeps the text from before the first: a commit may have it.
function firstMerge(
  { localHash }: Compared,
  baseHash: string | undefined,
  before: LockEntry | undefined,
): Pick<LockEntry, 'mine' | 'base'> {
  const isFirst = before?.mine === undefined
  const [mine, base] = isFirst ? [localHash, baseHash] : [before.mine, before.base]
  return defined({ mine, base })
}

export function entryOf(hash: string, documentUuid: string | undefined): LockEntry {
  return { hash, ...(documentUuid && { documentUuid }) }
}
