import type { Outcome } from '../api-promise.ts'
import type { Answer } from './exchange.ts'
import { errorFromResponse, invalidAnswer } from './response-error.ts'

/** The JSON of a response. */
export function parseAnswer<T>(answer: Answer): Outcome<T> {
  const { text, response } = answer
  // a condition of the caller's own held: there is nothing to give
  if (response.status === 304) throw errorFromResponse(answer)
  try {
    // the service's own tests hold its answers to the contract; here they are taken at their word
    return { data: JSON.parse(text) as T, response: new Response(text, response) }
  } catch {
    throw invalidAnswer(answer, 'JSON')
  }
}
