import { ConnectionError } from '@stet/sdk'
import { listen, useWatched, Watched } from '../../../ui/watched.ts'
import { saveAll } from '../../unsaved.ts'
import { noticeOutage, onOutageEnd } from './connection.ts'

/** Whether the server has been updated since this page was loaded. Parts that are not loaded yet no longer exist then. */
const isStale = new Watched(false)

export function useStale(): boolean {
  return useWatched(isStale)
}

/** Notices that a part of the page is gone, until the returned function is called. The shell calls this once. */
export function listenForUpgrade(): () => void {
  return listen(window, 'vite:preloadError', noticeMissingPart)
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

/**
 * Loads a part of the page. While the server does not answer, this waits, and a line above the screen shows that.
 *
 * @throws MissingPart
 */
export async function loadPart<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load()
  } catch (cause) {
    if (await askForScript()) throw new MissingPart(cause)
    noticeOutage(new ConnectionError('The server is not responding', { cause }))
    await new Promise<void>((resume) => {
      const stop = onOutageEnd(() => {
        stop()
        resume()
      })
    })
    return loadPart(load)
  }
}

/** The server has no such part, or did not send it. */
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
  isStale.set(true)
}

/** Loads the new page. Everything that is open is saved first. */
export async function reload(): Promise<void> {
  await saveAll()
  location.reload()
}
