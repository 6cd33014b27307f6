/** Removes secrets from a provider's text before anybody sees it. */
import { storableText } from '../../../shared/storable-json.ts'

const longestText = 2_000

/** Key forms of the common vendors, and what follows `Bearer`. */
const secretForms = /\b(?:sk|pk|rk|gsk|xai|pplx|key)[-_][\w-]{8,}|\bAIza[\w-]{20,}|\bstet_\w{20,}|\bBearer\s+[^\s"']+/gi

/** @param token the entry's own token, whatever its form. Cut to 2,000 characters. */
export function scrubbed(text: string, token: string): string {
  // Cut before the search, with room for what it shortens: an error page of megabytes costs nothing then.
  const part = text.slice(0, 4 * longestText)
  const withoutToken = token.length < 4 ? part : part.replaceAll(token, '***')
  return storableText(withoutToken.replace(secretForms, '***').slice(0, longestText))
}
