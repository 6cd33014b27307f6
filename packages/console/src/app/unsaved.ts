import { useSyncExternalStore } from 'react'
import { useWatched, Watched } from '../ui/watched.ts'
import { storedKeys, unstore } from './storage.ts'

/** Keys in local and session storage that hold unsaved text start with this. Signing out wipes them. */
export const unsavedPrefix = 'stet.unsaved.'

/** The part of the page that holds texts until the server has them. It registers itself when it is loaded. */
interface TextHolder {
  /** Tries to save all texts, also those that no screen shows. */
  save: () => Promise<unknown>
  /** The prompts whose texts are not saved. */
  unsaved: () => readonly UnsavedPrompt[]
  /** Stops saving. Only signing out does this. */
  stop: () => void
  /** Removes the copies of its texts from the browser's storage. The texts stay on the screen. */
  wipe: () => void
}

export interface UnsavedPrompt {
  projectId: number
  versionUuid: string
  path: string
}

const holders = new Set<TextHolder>()

export function registerTexts(holder: TextHolder): void {
  holders.add(holder)
}

/** Saves everything that was changed. Resolves also if a save fails: the text is in local storage then. */
export async function saveAll(): Promise<void> {
  await Promise.allSettled([...holders].map(({ save }) => save()))
}

/** How many prompts have text that the server does not have: in this page, or kept in the browser's storage. */
export function countUnsaved(): number {
  const unsaved = [...holders].flatMap((holder) => holder.unsaved())
  return new Set([...unsaved.map(({ projectId, path }) => `${projectId}#${path}`), ...keptPrompts()]).size
}

/** The key of a kept text is the server's path, then project, version, path and page, separated by `#`. */
function keptPrompts(): string[] {
  const keys = storedKeys(`${unsavedPrefix}/`)
  return keys.map((key) => key.split('#')).map(([, projectId, , path]) => `${projectId}#${path}`)
}

let isKeeping = true

/** False between signing out and signing in again. Nothing may be written to the browser's storage then. */
export function mayKeep(): boolean {
  return isKeeping
}

/** Removes all unsaved text of this browser, and stops saving what this page still has. */
export function discardUnsaved(): void {
  for (const { stop } of holders) stop()
  wipe()
}

/** Another tab has signed out. The texts stay on the screen, but no longer in the browser's storage. */
export function wipeCopies(): void {
  wipe()
  for (const holder of holders) holder.wipe()
}

/** The user has signed in again. */
export function keepAgain(): void {
  isKeeping = true
}

function wipe(): void {
  isKeeping = false
  for (const name of ['localStorage', 'sessionStorage'] as const)
    for (const key of storedKeys(unsavedPrefix, name)) unstore(key, name)
}

export interface LeftPrompt extends UnsavedPrompt {
  /** Two texts may have the same address. */
  id: string
  text: string
}

const left = new Watched<readonly LeftPrompt[]>([])

/** Prompts that no screen shows any more, and whose text could not be saved. */
export function useLeftPrompts(): readonly LeftPrompt[] {
  return useWatched(left)
}

/** Whether a screen shows a prompt of the version whose text is not saved. */
export function useHoldsText(projectId: number, versionUuid: string): boolean {
  const isShown = (prompt: UnsavedPrompt) => !left.get().some((other) => isSamePrompt(prompt, other))
  const isHere = (prompt: UnsavedPrompt) => prompt.projectId === projectId && prompt.versionUuid === versionUuid
  return useSyncExternalStore(left.watch, () =>
    [...holders].some((holder) => holder.unsaved().some((prompt) => isHere(prompt) && isShown(prompt))),
  )
}

/** The holder calls this whenever the text of a prompt, or its state, has changed. */
export function noticeTexts(next: readonly LeftPrompt[]): void {
  const before = left.get()
  const isSame =
    next.length === before.length &&
    next.every((prompt, at) => isSamePrompt(prompt, before[at]) && prompt.text === before[at]?.text)
  left.set(isSame ? before : next)
}

function isSamePrompt(a: UnsavedPrompt, b: UnsavedPrompt | undefined): boolean {
  return a.projectId === b?.projectId && a.versionUuid === b.versionUuid && a.path === b.path
}
