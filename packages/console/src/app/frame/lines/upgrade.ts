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
  const own = document.querySelector<HTMLScriptElement>('script[type="module"]')?.src
  const response = own && (await fetch(own, { method: 'HEAD', cache: 'no-store' }).catch(() => null))
  if (response && response.status === 404) noticeUpgrade()
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
