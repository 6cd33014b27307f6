/** Keeps what is typed for the runs of a prompt in the browser, so that a reload or a crash loses none. */
import { base, queryClient, sessionQuery } from '../../app/session.ts'
import { store, stored, storedKeys, storedText, unstore } from '../../app/storage.ts'
import { mayKeep } from '../../app/unsaved.ts'
import type { InputDrafts } from './input-value.ts'

export interface KeptInputs {
  drafts: InputDrafts
  /** The uuid of the example that the inputs come from. */
  example?: string | undefined
}

// Signing out removes every entry that starts with `stet.unsaved.`. Servers at different paths share a storage.
const prefix = `stet.unsaved.inputs#${base.pathname}#`
/** In characters. A browser keeps 5 million; the rest is for unsaved prompts. */
const room = 3_600_000

export function readInputs(key: string): KeptInputs | null {
  return stored(prefix + key) as KeptInputs | null
}

/** Returns false if the browser has no room for the inputs. Those of other prompts make room first. */
export function keepInputs(key: string, inputs: KeptInputs): boolean {
  if (!mayKeep()) return true
  const sizeOf = (name: string) => storedText(name)?.length ?? 0
  const others = storedKeys(prefix).filter((name) => name !== prefix + key)
  let used = others.reduce((sum, name) => sum + sizeOf(name), JSON.stringify(inputs).length)
  for (const name of others) {
    if (used <= room) break
    used -= sizeOf(name)
    unstore(name)
  }
  if (used <= room) return store(prefix + key, inputs)
  unstore(prefix + key)
  return false
}

/** Text that is typed below a run, and the run that it belongs to. */
export interface KeptReply {
  /** The uuid of the conversation that the tab showed last. Null before the first run. */
  conversationUuid: string | null
  /** The reply that is being written. */
  reply: string
  /** Results of client tools that are being written, by the id of the tool call. */
  results: Readonly<Record<string, string>>
}

export const nothingTyped: KeptReply = { conversationUuid: null, reply: '', results: {} }

/** Belongs to one tab, and to one person: the next one in the same tab gets none of it. */
function replyKey(key: string): string {
  const author = queryClient.getQueryData(sessionQuery.queryKey)?.apiKey.author.id
  return `stet.unsaved.run#${base.pathname}#${author}#${key}`
}

export function readReply(key: string): KeptReply {
  return (stored(replyKey(key), 'sessionStorage') as KeptReply | null) ?? nothingTyped
}

export function keepReply(key: string, kept: KeptReply): void {
  if (mayKeep()) store(replyKey(key), kept, 'sessionStorage')
}
