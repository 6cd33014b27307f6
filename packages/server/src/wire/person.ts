import type { Person } from '@stet/contract/vocabulary'
import type { Author } from '../shared/caller.ts'

export function personBody({ id, name, email }: Author): Person {
  return { id, name, email }
}
