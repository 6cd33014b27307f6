import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { LockEntry } from '../settings/lock-file.ts'
import { isWithin, problemOfName, writeFileAtomically } from '../settings/write-file.ts'
import type { Compared, PullAction } from './compare.ts'
import { problemOfPath, promptEnding, remoteEnding } from './prompt-path.ts'
import type { Refusal } from './scan.ts'

export interface PullStep {
  one: Compared
  action: PullAction
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

/** Writes only the files. The caller saves the lock file afterwards, so that an interrupted pull can be repeated. */
export async function applyPull(
  promptsDir: string,
  steps: readonly PullStep[],
  before: Readonly<Record<string, LockEntry>>,
): Promise<{ entries: Record<string, LockEntry>; refused: Refusal[] }> {
  const entries: Record<string, LockEntry> = { ...before }
  const refused: Refusal[] = []
  for (const { one, action } of steps) {
    const problem =
      (touchesFile(action) ? await problemOfFile(promptsDir, one) : undefined) ??
      (await changeFile(promptsDir, one, action))
    if (problem) {
      refused.push({ path: one.path, reason: problem })
      continue
    }
    const entry = entryAfter(one, action, before[one.path]) ?? (one.mergedLive === undefined ? undefined : {})
    if (entry) entries[one.path] = withDraftNotes(entry, before[one.path])
    else delete entries[one.path]
  }
  return { entries, refused }
}

function touchesFile(action: PullAction): boolean {
  return action === 'write' || action === 'write-beside' || action === 'delete'
}

/** Throws errors that the name does not cause, such as a full disk. @returns why this name is invalid, or undefined */
async function changeFile(promptsDir: string, one: Compared, action: PullAction): Promise<string | undefined> {
  const file = fileOf(promptsDir, one)
  const beside = file.slice(0, -promptEnding.length) + remoteEnding
  try {
    if (action === 'write' && one.remoteText !== undefined) await writeFileAtomically(file, one.remoteText)
    if (action === 'write-beside' && one.remoteText !== undefined) await writeFileAtomically(beside, one.remoteText)
    if (action === 'delete') await rm(file, { force: true })
    if ((action === 'write' || action === 'settle') && one.hasLeftover) await rm(beside, { force: true })
    return undefined
  } catch (error) {
    const problem = problemOfName(error)
    if (problem === undefined) throw error
    return problem
  }
}

function entryAfter(one: Compared, action: PullAction, before: LockEntry | undefined): LockEntry | undefined {
  const server = one.remoteHash === undefined ? undefined : entryOf(one.remoteHash, one.documentUuid)
  switch (action) {
    case 'write':
    case 'lock-only':
    case 'settle':
    case 'delete':
      return server
    case 'write-beside':
      return { ...before, ...(one.remoteHash !== undefined && { theirs: one.remoteHash }) }
    case 'none':
      return server ?? before
    case 'keep':
    case 'keep-deleted':
      return settled(one, before)
  }
}

function withDraftNotes(entry: LockEntry, before: LockEntry | undefined): LockEntry {
  const { live, merged } = before ?? {}
  return { ...entry, ...(live !== undefined && { live }), ...(merged !== undefined && { merged }) }
}

// Deleting the `.remote` file resolves a conflict. The server's text is then the new base.
function settled(one: Compared, before: LockEntry | undefined): LockEntry | undefined {
  if (!before?.theirs || one.hasLeftover) return before
  return entryOf(before.theirs, before.documentUuid)
}

export function entryOf(hash: string, documentUuid: string | undefined): LockEntry {
  return { hash, ...(documentUuid && { documentUuid }) }
}
