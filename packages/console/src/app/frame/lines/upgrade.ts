import { useSyncExternalStore } from 'react'
import { saveAll } from '../../unsaved.ts'

/** Whether the server has been updated since this page was loaded. Parts that are not loaded yet no longer exist then. */
let isStale = false
const listeners = new Set<() => void>()

export function useStale(): boolean {
  return useSyncExternalStore(subscribe, () => isStale)
}

/** Notices that a part of the page is gone, until the returned function is called. The shell calls this once. */
export function listenForUpgrade(): () => void {
  addEventListener('vite:preloadError', noticeMissingPart)
  return () => removeEventListener('vite:preloadError', noticeMissingPart)
}

/** Without a connection a part cannot be loaded either. After an upgrade the page's own script is gone as well. */
async function noticeMissingPart(): Promise<void> {
  const response = await askForScript()
  if (response?.status === 404) noticeUpgrade()
}

/** The page's own script, without its text. Null if the server does not answer. */
function askForScript(): Promise<Response | null> {
  const own = document.querySelector<HTMLScriptElement>('script[type="module"]')?.src ?? location.href
  return fetch(own, { method: 'HEAD', cache: 'no-store' }).catch(() => null)
}

/** A part of the page could not be loaded. A browser does not try again until the page is loaded again. */
export class MissingPart extends Error {
  constructor(cause: unknown) {
    super('A part of the console could not be loaded.', { cause })
  }
}

/** Loads the page again, unless the server does not answer: the user would be left without any page. */
export async function reloadIfReachable(): Promise<void> {
  if (await askForScript()) await reload()
}

export function noticeUpgrade(): void {
  isStale = true
  for (const listener of listeners) listener()
}

/** Loads the new page. Everything that is open is saved first. */
export async function reload(): Promise<void> {
  await saveAll()
  location.reload()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
