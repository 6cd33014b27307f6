import { useMatches, useRouter } from '@tanstack/react-router'
import { type RefObject, useEffect, useRef } from 'react'
import { listen } from '../../ui/watched.ts'

/** Moves the focus to the title of a new screen, when it is there. The first screen leaves the focus to the browser. */
export function useTitleFocus(main: RefObject<HTMLElement | null>): void {
  const { routesById } = useRouter()
  // The innermost route that is a screen of its own. Another prompt, tab or entry is not a new screen.
  const screen = useMatches({
    select: (matches) => matches.findLast(({ routeId }) => routesById[routeId].options.component)?.routeId,
  })
  const shown = useRef(screen)
  useEffect(() => {
    const element = main.current
    if (!element || shown.current === screen) return
    shown.current = screen
    const focusTitle = () => {
      // A part of the screen may have taken the focus already.
      if (element.querySelector(':focus')) return true
      return focusOn(titleOf(element))
    }
    if (focusTitle()) return
    const observer = new MutationObserver(() => focusTitle() && observer.disconnect())
    observer.observe(element, { childList: true, subtree: true })
    return () => observer.disconnect()
  }, [screen, main])
}

/**
 * Finds a place for the focus when the element that has it is removed and nothing takes it over. Otherwise the next Tab
 * starts again at the top of the page. A part of the screen names the place in its attribute `data-keeps-focus`: a
 * selector of an element inside, or nothing for the part itself. Without such a part it is the title.
 */
export function useKeptFocus(main: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = main.current
    if (!element) return
    const { body } = element.ownerDocument
    const hasFocus = () => element.ownerDocument.activeElement !== body
    let last: HTMLElement | null = null
    let parts: Element[] = []
    let frame = 0
    const onFocus = (event: FocusEvent) => {
      last = event.target as HTMLElement
      // A dialog is outside. Its opener may be gone when it closes.
      if (!element.contains(last)) return
      parts = event
        .composedPath()
        .filter((one) => one instanceof Element && one.matches('[data-keeps-focus]')) as Element[]
    }
    const findPlace = () => {
      for (const part of parts) {
        const selector = part.getAttribute('data-keeps-focus')
        const place = selector ? part.querySelector<HTMLElement>(selector) : (part as HTMLElement)
        if (part.isConnected && focusOn(place) && hasFocus()) return
      }
      focusOn(titleOf(element))
    }
    // The user may put the focus nowhere, with a click beside everything. A removed element is gone after this task.
    const onBlur = ({ target }: FocusEvent) =>
      queueMicrotask(() => {
        if (last === target && last?.checkVisibility() && !hasFocus()) last = null
      })
    // A closing dialog and a part that has just appeared move the focus before the next frame. A screen hides its
    // elements while more of its data is loading.
    const keep = () => {
      if (!last || hasFocus()) return
      if (!last.isConnected) findPlace()
      else if (last.checkVisibility()) focusOn(last)
    }
    const observer = new MutationObserver(() => {
      if (!last || hasFocus()) return
      cancelAnimationFrame(frame)
      frame = requestAnimationFrame(keep)
    })
    const stops = [listen(body, 'focusin', onFocus), listen(body, 'focusout', onBlur)]
    observer.observe(body, { childList: true, subtree: true, attributeFilter: ['style'] })
    return () => {
      observer.disconnect()
      cancelAnimationFrame(frame)
      for (const stop of stops) stop()
    }
  }, [main])
}

/** Not that of the screen before, which is hidden while the data of the next one is loading. */
function titleOf(main: HTMLElement): HTMLElement | null {
  return [...main.querySelectorAll('h1')].find((title) => title.checkVisibility()) ?? null
}

function focusOn(element: HTMLElement | null): boolean {
  element?.focus({ preventScroll: true })
  return element !== null
}
