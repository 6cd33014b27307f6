import { focusManager, onlineManager } from '@tanstack/react-query'
import { onOutageEnd } from '../../app/frame/lines/connection.ts'
import type { PromptBuffer } from './prompt-buffer.ts'

/** Poll interval for colleagues' saves, in milliseconds. Hidden tabs do not poll. */
const pollMs = 5000

/** Reports visibility and connectivity to a buffer and polls for it. Returns the function that ends this. */
export function watchPage(current: () => PromptBuffer | null): () => void {
  const poll = () => {
    if (focusManager.isFocused()) void current()?.poll()
  }
  const retry = () => current()?.dispatch({ on: 'online' })
  const leave = () => current()?.hidden(true)
  const warn = (event: BeforeUnloadEvent) => {
    if (current()?.isKept === false) event.preventDefault()
  }
  const removed = ({ key, newValue }: StorageEvent) => {
    if (newValue === null) current()?.copyRemoved(key)
  }
  const timer = setInterval(poll, pollMs)
  window.addEventListener('pagehide', leave)
  window.addEventListener('beforeunload', warn)
  window.addEventListener('storage', removed)
  const stops = [
    () => clearInterval(timer),
    () => window.removeEventListener('pagehide', leave),
    () => window.removeEventListener('beforeunload', warn),
    () => window.removeEventListener('storage', removed),
    focusManager.subscribe((isVisible) => {
      current()?.hidden(!isVisible)
      if (isVisible) poll()
    }),
    onlineManager.subscribe((isOnline) => isOnline && retry()),
    onOutageEnd(retry),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}
