/** Moves through a page with the keyboard alone, and names what has the focus. */
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** More than any screen of the console has. */
const mostStops = 80

export function keysOf(page: Page) {
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key)
  }
  const isFocused = (target: Locator) =>
    target.evaluateAll((elements) => elements.some((element) => element === document.activeElement))
  /** What has the focus in the next frame: people do not press Tab twice within one. */
  const focusOf = (target: Locator) =>
    target.evaluateAll(async (elements) => {
      await new Promise((drawn) => requestAnimationFrame(drawn))
      const { activeElement: it } = document
      return { isThere: elements.some((element) => element === it), isInText: /then Tab/.test(it?.ariaLabel ?? '') }
    })
  /** Presses a key until the element has the focus. The element may still be loading. */
  const moveTo = async (key: 'Tab' | 'Shift+Tab', target: Locator) => {
    await target.first().waitFor()
    for (let stop = 0; stop < mostStops; stop++) {
      const { isThere, isInText } = await focusOf(target)
      if (isThere) return
      // Tab indents in the text of a prompt, unless Escape comes first.
      await press(...(isInText ? ['Escape'] : []), key)
    }
    throw new Error(`${key} does not reach ${target}. The focus is on: ${await described(page)}`)
  }
  return {
    press,
    type: (text: string) => page.keyboard.type(text),
    tabTo: (target: Locator) => moveTo('Tab', target),
    backTo: (target: Locator) => moveTo('Shift+Tab', target),
    /** Waits until the element has the focus. */
    expectFocus: (target: Locator) =>
      expect.poll(async () => (await isFocused(target)) || (await described(page))).toBe(true),
  }
}

function described(page: Page): Promise<string> {
  return page.evaluate(() => {
    const { activeElement: it } = document
    return it ? `<${it.localName}> ${it.getAttribute('aria-label') ?? it.textContent?.slice(0, 60)}` : 'nothing'
  })
}
