import type { Example as ExampleBody } from '@stet/contract/vocabulary'
import type { Example } from '../features/examples/example.ts'
import { personBody } from './api-key.ts'

export function exampleBody(example: Example): ExampleBody {
  return {
    uuid: example.uuid,
    documentUuid: example.documentUuid,
    name: example.name,
    parameters: example.parameters,
    messages: example.messages,
    author: personBody(example.author),
    createdAt: example.createdAt.toISOString(),
    updatedAt: example.updatedAt.toISOString(),
  }
}
