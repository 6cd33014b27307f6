/** Keeps the inputs of each prompt in the browser, so that a reload or a crash loses none. */
import { base } from '../../app/session.ts'
import { mayKeep } from '../../app/unsaved.ts'
import type { InputDrafts } from './input-value.ts'

export interface KeptInputs {
  drafts: InputDrafts
  /** The uuid of the example that the inputs come from. */
  example?: string | undefined
}

// Signing out removes every entry that starts with `stet.unsaved.`. Servers at different paths share a storage.
const prefix = `stet.unsaved.inputs#${base.pathname}#`
/** Of the 5 million characters that a browser keeps. The rest is for unsaved prompts. */
const room = 3_600_000

export function readInputs(key: string): KeptInputs | null {
  try {
    return JSON.parse(localStorage.getItem(prefix + key) ?? 'null')
  } catch {
    return null
  }
}

/** Returns false if the browser has no room for the inputs. Those of other prompts make room first. */
export function keepInputs(key: string, inputs: KeptInputs): boolean {
  if (!mayKeep()) return true
  const text = JSON.stringify(inputs)
  try {
    const others = Object.keys(localStorage).filter((name) => name.startsWith(prefix) && name !== prefix + key)
    let used = others.reduce((sum, name) => sum + (localStorage.getItem(name)?.length ?? 0), text.length)
    for (const name of others) {
      if (used <= room) break
      used -= localStorage.getItem(name)?.length ?? 0
      localStorage.removeItem(name)
    }
    if (used <= room) localStorage.setItem(prefix + key, text)
    else localStorage.removeItem(prefix + key)
    return used <= room
  } catch {
    return false
  }
}
