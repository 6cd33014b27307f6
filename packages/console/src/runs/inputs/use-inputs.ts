import { useCallback, useEffect, useRef, useState } from 'react'
import type { InputDraft } from './input-value.ts'
import { type KeptInputs, keepInputs, readInputs } from './kept-inputs.ts'

const keepMs = 200

export interface Inputs extends KeptInputs {
  /** False if the inputs are too large for the browser to keep them over a reload. */
  isKept: boolean
  change: (name: string, draft: InputDraft) => void
  /** Replaces all inputs, for example with those of an example. */
  replace: (inputs: KeptInputs) => void
  /** The inputs stay, and belong to this example from now on. */
  belongTo: (example: string | undefined) => void
  /** Moves the typed text to another name, unless that has text. */
  rename: (from: string, to: string) => void
}

/** The inputs on this page. The browser's storage has the typed text only after a moment, or not at all. */
const typed = new Map<string, { latest: { current: KeptInputs }; replace: (inputs: KeptInputs) => void }>()

/** The typed inputs of a prompt, also if its fields are not on this page. */
export function inputsNow(key: string): KeptInputs {
  return typed.get(key)?.latest.current ?? readInputs(key) ?? { drafts: {} }
}

/** Replaces the inputs of a prompt, also if its fields are not on this page. False if the browser has no room for them. */
export function replaceInputs(key: string, inputs: KeptInputs): boolean {
  const shown = typed.get(key)
  if (!shown) return keepInputs(key, inputs)
  shown.replace(inputs)
  return true
}

/** The inputs typed for a prompt, kept under `key` until the user signs out. */
export function useInputs(key: string): Inputs {
  const [inputs, setInputs] = useState(() => inputsNow(key))
  const [isKept, setKept] = useState(true)
  const latest = useRef(inputs)
  const isUnkept = useRef(false)
  const keep = useCallback(() => {
    if (!isUnkept.current) return
    isUnkept.current = false
    setKept(keepInputs(key, latest.current))
  }, [key])
  useEffect(() => {
    if (latest.current === inputs) return
    latest.current = inputs
    isUnkept.current = true
    const timer = setTimeout(keep, keepMs)
    return () => clearTimeout(timer)
  }, [inputs, keep])
  useEffect(() => {
    typed.set(key, { latest, replace: setInputs })
    window.addEventListener('pagehide', keep)
    return () => {
      window.removeEventListener('pagehide', keep)
      typed.delete(key)
      keep()
    }
  }, [key, keep])
  const rename = useCallback((from: string, to: string) => {
    setInputs((now) => {
      const { [from]: draft, ...drafts } = now.drafts
      if (!draft || drafts[to]?.text) return now
      return { ...now, drafts: { ...drafts, [to]: draft } }
    })
  }, [])
  return {
    ...inputs,
    isKept,
    rename,
    change: (name, draft) => setInputs((now) => ({ ...now, drafts: { ...now.drafts, [name]: draft } })),
    replace: setInputs,
    belongTo: (example) => setInputs((now) => ({ ...now, example })),
  }
}
