import { join } from 'node:path'
import type { Context } from '../context.ts'
import { CliError } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { isJsonObject, readTextIfPresent } from '../settings/json-file.ts'
import { writeFileAtomically } from '../settings/write-file.ts'

const kept = 200
const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

interface Recent {
  uuid: string
  /** Includes the API prefix. */
  baseUrl: string
}

function recentFileOf(io: Io): string {
  return join(io.env['XDG_STATE_HOME'] || join(io.homeDir, '.local', 'state'), 'stet', 'recent.json')
}

// A damaged or unreadable file counts as empty, because the list is only a convenience.
async function readRecent(io: Io): Promise<Recent[]> {
  try {
    const value: unknown = JSON.parse((await readTextIfPresent(recentFileOf(io))) ?? '[]')
    return Array.isArray(value) ? value.filter(isRecent) : []
  } catch {
    return []
  }
}

/** Saves the uuid, so that later commands accept its first digits. */
export async function rememberConversation(uuid: string, ctx: Context): Promise<void> {
  const { baseUrl } = await ctx.settings()
  const others = (await readRecent(ctx.io)).filter((one) => one.uuid !== uuid)
  const recent = [{ uuid, baseUrl: baseUrl.value }, ...others].slice(0, kept)
  try {
    await writeFileAtomically(recentFileOf(ctx.io), `${JSON.stringify(recent)}\n`)
  } catch {
    // Without a writable home, the full uuid still works.
  }
}

export function isUuid(ref: string): boolean {
  return uuidForm.test(ref)
}

/** Returns the conversations of this machine and server whose uuids begin with `prefix`, with or without hyphens. */
export async function recentConversations(prefix: string, ctx: Context): Promise<string[]> {
  const { baseUrl } = await ctx.settings()
  return (await readRecent(ctx.io))
    .filter((one) => one.baseUrl === baseUrl.value && startsWith(one.uuid, prefix))
    .map(({ uuid }) => uuid)
}

function startsWith(uuid: string, prefix: string): boolean {
  return uuid.replaceAll('-', '').startsWith(prefix.toLowerCase().replaceAll('-', ''))
}

export async function findConversation(ref: string, ctx: Context): Promise<string> {
  if (isUuid(ref)) return ref.toLowerCase()
  if (!/^[0-9a-f-]{8,}$/i.test(ref)) {
    throw new CliError('usage', `Invalid conversation: ${ref}`, { hint: 'use a uuid, or at least its first 8 digits' })
  }
  const here = await recentConversations(ref, ctx)
  const matches = here.length > 0 ? here : (await newestOfServer(ctx)).filter((uuid) => startsWith(uuid, ref))
  const [only, ...others] = matches
  if (!only) {
    throw new CliError('not_found', `No recent conversation begins with ${ref}`, {
      hint: 'run stet conversations list, or use the whole uuid',
    })
  }
  if (others.length === 0) return only
  throw new CliError('usage', `Several conversations begin with ${ref}`, { lines: matches })
}

// Returns the server's newest conversations, or an empty list if the key may not read them.
async function newestOfServer(ctx: Context): Promise<string[]> {
  const client = await ctx.client()
  const { ForbiddenError } = await import('@stet/sdk')
  try {
    return (await client.conversations.list({ limit: 100 })).items.map(({ uuid }) => uuid)
  } catch (error) {
    if (error instanceof ForbiddenError) return []
    throw error
  }
}

function isRecent(value: unknown): value is Recent {
  return isJsonObject(value) && typeof value['uuid'] === 'string' && typeof value['baseUrl'] === 'string'
}
