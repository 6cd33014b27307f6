import type { Outcome } from '../api-promise.ts'
import type { Settings } from '../settings.ts'
import type { Answer } from './exchange.ts'
import { errorFromResponse, explained, invalidAnswer } from './response-error.ts'

export async function parseAnswer<T>(settings: Settings, answer: Answer): Promise<Outcome<T>> {
  const { text, response } = answer
  // A 304 answers an `If-None-Match` header of the caller, so there is no body to parse.
  if (response.status === 304) throw errorFromResponse(answer)
  try {
    // The client does not validate the body, because the server's tests check responses against the contract.
    return { data: JSON.parse(text) as T, response: new Response(text, response) }
  } catch {
    throw await explained(settings, invalidAnswer(answer, 'JSON'))
  }
}
