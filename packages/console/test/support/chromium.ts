import { existsSync } from 'node:fs'
import { chromium } from '../../../sdk/test/browser/chromium.ts'

/**
 * Chromium's headless shell, if it is installed: the same engine without the parts of a desktop browser. A page costs a third
 * of the processor time (1.0 against 2.7 s). The project `browser` uses the whole browser.
 */
export const consoleChromium = [
  process.env['STET_TEST_HEADLESS_SHELL'] ?? '/usr/bin/chromium-headless-shell',
  chromium,
].find((file) => file !== undefined && existsSync(file))
