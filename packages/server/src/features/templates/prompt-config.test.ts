import { expect, it } from 'vitest'
import { RunError } from '../../shared/app-error.ts'
import { readPromptConfig } from './prompt-config.ts'

it.each([
  [
    { temperature: 'hot' },
    'document_config_error',
    'a/b: `temperature` must be a number',
    { key: 'temperature', path: 'a/b' },
  ],
  [
    { tools: { 'slack/post': {} } },
    'unsupported_feature_error',
    "Tool 'slack/post' is not available in stet",
    { feature: 'slack/post' },
  ],
])('throws the first fault of %j', (config, code, message, details) => {
  const refused = () => readPromptConfig(config, 'a/b')
  expect(refused).toThrow(RunError)
  expect(refused).toThrow(expect.objectContaining({ code, message, details }))
})
