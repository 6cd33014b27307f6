/**
 * The person or program that an API key acts for.
 * @example { id: 1, name: 'Ada', email: 'ada@example.com' }
 */
export interface Person {
  id: number
  name: string
  /** Empty if unknown. */
  email: string
}
