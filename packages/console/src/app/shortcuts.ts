import { type RefObject, useEffect, useRef } from 'react'
import { listen, useWatched, Watched } from '../ui/watched.ts'
import { preferences } from './preferences.ts'

/** An action that has a key. The list of keys (`?`) and the palette show it while it is registered. */
export interface Shortcut {
  /**
   * The key as `KeyboardEvent.key` names it, for example `j`, `[` or `F2`, with `mod+`, `shift+` or `alt+` before it.
   * `mod` is ⌘ on macOS and Ctrl elsewhere. Two keys pressed after each other have a space between them: `g p`.
   * Without keys the action appears in the palette only.
   */
  keys?: string
  /** The action, as a verb and its object: "Run the prompt". */
  label: string
  /** The part of the console that it belongs to: "Everywhere", "Editor". */
  group: string
  /** Why nothing happens now, for example `your key lacks “publish”`. */
  blocked?: string | false | null | undefined
  /** False keeps it out of the palette, for keys that move inside a list. */
  inPalette?: boolean
  /** Without it, the focused element handles the key itself, and the entry is for the list of keys. */
  run?: () => void
}

type Registered = RefObject<readonly Shortcut[]>

const isMac = /Mac|iPhone|iPad/.test(navigator.platform)
/** Innermost last, so that a part of a screen comes before the screen. */
const registered = new Watched<readonly Registered[]>([])
/** The first key of a pair such as `g p`, while the second is awaited. */
let first: { key: string; at: number } | null = null
const pairMs = 1500

/**
 * Registers actions for as long as the component is shown. Keys without `mod` do nothing in fields, in dialogs, and
 * if the user has turned them off. If two components use the same key, the one that appeared last gets it.
 */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const latest = useRef(shortcuts)
  useEffect(() => {
    latest.current = shortcuts
  })
  useEffect(() => {
    registered.set([...registered.get(), latest])
    return () => registered.set(registered.get().filter((entry) => entry !== latest))
  }, [])
}

/** Registers one action; see `useShortcuts`. */
export function useShortcut(shortcut: Shortcut): void {
  useShortcuts([shortcut])
}

/** `j` and `k` move the focus among the elements in `list` that have the attribute `data-row`. ⏎ is the element's own. */
export function useRowKeys(list: RefObject<HTMLElement | null>, group: string): void {
  const move = (step: 1 | -1) => {
    const rows = [...(list.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])]
    const at = rows.findIndex((row) => row.matches(':focus, :focus-within'))
    const next = at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + step, 0), rows.length - 1)
    rows[next]?.focus()
  }
  useShortcuts([
    { keys: 'j', label: 'Next row', group, inPalette: false, run: () => move(1) },
    { keys: 'k', label: 'Previous row', group, inPalette: false, run: () => move(-1) },
  ])
}

/**
 * `[` and `]` go to the previous and the next one of what the screen shows one at a time.
 *
 * @param what the noun, for example "prompt"
 */
export function useStepKeys(what: string, group: string, go: (step: 1 | -1) => void): void {
  useShortcuts([
    { keys: '[', label: `Go to the previous ${what}`, group, run: () => go(-1) },
    { keys: ']', label: `Go to the next ${what}`, group, run: () => go(1) },
  ])
}

/** The one before or after `current`. Without a current one, the last or the first. Undefined at the end of the list. */
export function stepFrom<Item>(items: readonly Item[], current: Item | undefined, step: 1 | -1): Item | undefined {
  const at = current === undefined ? -1 : items.indexOf(current)
  if (at < 0) return step > 0 ? items[0] : items.at(-1)
  return items[at + step]
}

/** All registered actions, outermost first, for the palette and the list of keys. */
export function useRegistered(): readonly Shortcut[] {
  return useWatched(registered).flatMap(({ current }) => current)
}

/** Handles keys until the returned function is called. The shell calls this once. */
export function listenForKeys(): () => void {
  const listener = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing || event.repeat) return
    // Keys with `mod` are taken on the way down, before a field such as the editor uses them for something else.
    // Other keys belong to the focused element first.
    const isEarly = event.eventPhase === Event.CAPTURING_PHASE
    const chord = chordOf(event)
    if (isEarly !== chord.includes('mod+')) return
    const shortcut = shortcutFor(chord, event)
    if (!shortcut) return
    event.preventDefault()
    if (isEarly) event.stopPropagation()
    if (!shortcut.blocked) shortcut.run?.()
  }
  const stops = [{ capture: true }, {}].map((options) => listen(window, 'keydown', listener, options))
  return () => stops.forEach((stop) => void stop())
}

/** One key with its modifiers as the user sees it: `mod+Enter` is "⌘⏎" on macOS and "Ctrl ⏎" elsewhere. */
export function keyText(chord: string): string {
  const signs: Record<string, string> = {
    mod: isMac ? '⌘' : 'Ctrl',
    shift: '⇧',
    alt: isMac ? '⌥' : 'Alt',
    Enter: '⏎',
    Delete: 'Del',
  }
  const parts = chord
    .split('+')
    .map((part) => signs[part] ?? (part.length === 1 && chord.length > 1 ? part.toUpperCase() : part))
  return parts.join(isMac || !chord.includes('mod') ? '' : ' ')
}

function shortcutFor(chord: string, event: KeyboardEvent): Shortcut | undefined {
  const isLetter = !chord.includes('mod+') && event.key.length === 1
  if (isLetter && (isField(event.target) || !preferences().letterKeys)) return undefined
  const pair = first && performance.now() - first.at < pairMs ? `${first.key} ${chord}` : null
  if (isInDialog(event.target)) return undefined
  const reachable = registered
    .get()
    .flatMap(({ current }) => current)
    .reverse()
    .filter(({ run }) => run)
  if (event.key !== 'Shift')
    first = reachable.some(({ keys }) => keys?.startsWith(`${chord} `)) ? { key: chord, at: performance.now() } : null
  return reachable.find(({ keys }) => keys === pair) ?? reachable.find(({ keys }) => keys === chord)
}

/** The key with its modifiers. Shift is left out where it is needed to type the character, such as `?`. */
function chordOf(event: KeyboardEvent): string {
  // AltGr is reported as Ctrl and Alt. It types characters such as [ on some keyboards.
  const isTyped = event.getModifierState('AltGraph')
  const isChar = event.key.length === 1 && event.key.toLowerCase() === event.key.toUpperCase()
  return [
    !isTyped && (isMac ? event.metaKey : event.ctrlKey) && 'mod',
    !isTyped && event.altKey && !(isMac && isChar) && 'alt',
    event.shiftKey && !isChar && 'shift',
    event.key.length === 1 ? event.key.toLowerCase() : event.key,
  ]
    .filter(Boolean)
    .join('+')
}

/** Also true if the focus is nowhere while a modal dialog is open, for example after a click on its text. */
function isInDialog(target: EventTarget | null): boolean {
  const isInside = target instanceof Element && target.closest('dialog, [role="menu"]') !== null
  return isInside || document.querySelector('dialog:modal') !== null
}

function isField(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false
  if (target.closest('textarea, select, [contenteditable="true"]')) return true
  const input = target.closest('input')
  return input !== null && !['checkbox', 'radio', 'button', 'file'].includes(input.type)
}
