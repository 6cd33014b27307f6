import { focusManager, onlineManager } from '@tanstack/react-query'
import { onOutageEnd } from '../../app/frame/lines/connection.ts'
import { listen } from '../../ui/watched.ts'
import type { PromptBuffer } from './prompt-buffer.ts'

/** Poll interval for colleagues' saves, in milliseconds. Hidden tabs do not poll. */
const pollMs = 5000

/** Reports visibility and connectivity to a buffer and polls for it. Returns the function that ends this. */
export function watchPage(current: () => PromptBuffer | null): () => void {
  const poll = () => {
    if (focusManager.isFocused()) void current()?.poll()
  }
  const retry = () => current()?.dispatch({ on: 'online' })
  const timer = setInterval(poll, pollMs)
  const stops = [
    () => clearInterval(timer),
    listen(window, 'pagehide', () => current()?.hidden(true)),
    listen(window, 'beforeunload', (event) => current()?.isKept === false && event.preventDefault()),
    listen(window, 'storage', ({ key, newValue }) => newValue === null && current()?.copyRemoved(key)),
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
