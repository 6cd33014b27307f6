import type { CreateSignInLinkBody, SignInLink } from '@stet/contract/vocabulary'
import { callConsole } from '../../../app/session.ts'
import { Time } from '../../../ui/time.tsx'
import { ShownOnce } from '../parts.tsx'

export interface MadeLink extends SignInLink {
  /** The name of the person that it signs in. */
  name: string
}

const weekSeconds = 7 * 86_400

/** Makes a link that signs in once with the given key, within 7 days. */
export async function makeLink({ apiKeyId, name }: { apiKeyId: number; name: string }): Promise<MadeLink> {
  const body: CreateSignInLinkBody = { apiKeyId, ttlSeconds: weekSeconds }
  return { ...(await callConsole<SignInLink>('POST', '/console/links', body)), name }
}

/** Shows a link that signs a person in. Anyone with the link can use it, so it is shown once and the user sends it. */
export function SignInLinkDialog({ url, expiresAt, name, onClose }: MadeLink & { onClose: () => void }) {
  return (
    <ShownOnce
      title={`A sign-in link for ${name}`}
      text={
        <>
          Send it to {name} only: it works once, until <Time at={expiresAt} />.
        </>
      }
      secret={url}
      label="the link"
      onClose={onClose}
    />
  )
}
