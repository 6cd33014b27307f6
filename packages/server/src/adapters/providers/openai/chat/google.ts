/** Google's own settings, which its OpenAI-compatible address expects under a separate key. */
import { asObject } from '../../answer/json.ts'

export function googleOptions(settings: Record<string, unknown>): Record<string, unknown> {
  const thinking = asObject(settings['thinkingConfig'])
  const safety = asObject(settings['safetySettings'])
  const google = {
    ...(Object.keys(thinking).length > 0 ? { thinking_config: snakeKeys(thinking) } : {}),
    ...(Object.keys(safety).length > 0 ? { safety_settings: snakeKeys(safety) } : {}),
  }
  return Object.keys(google).length > 0 ? { extra_body: { google } } : {}
}

function snakeKeys(object: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  )
}
