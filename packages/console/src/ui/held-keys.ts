/** Keys belong to what the last one has opened, even while that is loading and cannot have the focus yet. */
const opened = '[role="dialog"], [role="alertdialog"], [role="menu"]'
/** If nothing takes the focus until then, the page gets its keys back. */
const mostMs = 10_000

let end: ((isTaken: boolean) => void) | null = null

/** Keeps every key until something above the screen has the focus, which then receives them. */
export function holdKeys(): void {
  if (end) return
  const keys: string[] = []
  const keep = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.key === 'Shift') return
    event.preventDefault()
    event.stopImmediatePropagation()
    keys.push(event.key)
  }
  const take = ({ target }: FocusEvent) => (target as Element).closest(opened) && end?.(true)
  const drop = () => end?.(false)
  const timer = setTimeout(drop, mostMs)
  addEventListener('keydown', keep, { capture: true })
  addEventListener('pointerdown', drop, { capture: true })
  addEventListener('focusin', take)
  end = (isTaken) => {
    end = null
    clearTimeout(timer)
    removeEventListener('keydown', keep, { capture: true })
    removeEventListener('pointerdown', drop, { capture: true })
    removeEventListener('focusin', take)
    // The part that opens may choose its field in the same task.
    if (isTaken) queueMicrotask(() => keys.forEach(press))
  }
}

/** Call this if nothing will open. */
export function dropHeldKeys(): void {
  end?.(false)
}

function press(key: string): void {
  const { activeElement: target } = document
  if (!(target instanceof HTMLElement)) return
  const isHandled = !target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
  if (isHandled) return
  // The browser itself acts only on keys that it has received itself.
  if (!(target instanceof HTMLInputElement)) {
    if (key === 'Enter') target.click()
  } else if (key.length === 1) document.execCommand('insertText', false, key)
  else if (key === 'Backspace') document.execCommand('delete')
  else if (key === 'Enter') target.form?.requestSubmit()
}
