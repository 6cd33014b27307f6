/** Keeps the inputs of each prompt in the browser, so that a reload or a crash loses none. */
import { base } from '../../app/session.ts'
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
