/** Sends what the protocols of OpenAI have prepared, through the client of the entry. */
import type OpenAI from 'openai'
import type { ModelRequest } from '../../../features/providers/model-driver.ts'
import type { Clock } from '../../../shared/clock.ts'
import { requestHeaders } from '../request/headers.ts'
import type { LeanResponse, LeanTransport } from '../transport/lean-fetch.ts'
import { accountHeaders, authentication, openaiClients } from './client.ts'
import { openaiError } from './errors.ts'

type Create = (client: OpenAI, options: OpenAI.RequestOptions) => Promise<unknown>

export interface OpenaiCalls {
  /** One attempt per call of what it returns. @throws ProviderError for headers that cannot be set */
  sender(request: ModelRequest, create: Create): () => Promise<LeanResponse>
}

export function openaiCalls(transport: LeanTransport, clock: Clock): OpenaiCalls {
  const clientOf = openaiClients(transport)
  return {
    sender(request, create) {
      const { provider, signal } = request
      const headers = requestHeaders(request, authentication(provider), accountHeaders(provider))
      // They replace the client's own headers, which tell about this machine and take in environment variables; the
      // client's types forbid it, so a test pins what is sent.
      const options = { signal, fetchOptions: { headers: headers as never } }
      return async () => {
        try {
          return (await create(clientOf(provider), options)) as LeanResponse
        } catch (error) {
          throw openaiError(error, { token: provider.token, now: clock.now() })
        }
      }
    },
  }
}
