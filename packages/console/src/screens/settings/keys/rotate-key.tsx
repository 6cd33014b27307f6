import type { ApiKeyInfo } from '@stet/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Failure } from '../../../app/failure.tsx'
import { signIn, stet, useSession } from '../../../app/session.ts'
import { FormDialog } from '../../../ui/dialog.tsx'
import { SelectField } from '../../../ui/field.tsx'
import { keysQuery } from '../queries.ts'
import { SecretDialog } from './secret.tsx'

const overlaps = [
  { seconds: 0, text: 'stops at once' },
  { seconds: 3_600, text: 'works for one more hour' },
  { seconds: 86_400, text: 'works for one more day' },
  { seconds: 604_800, text: 'works for 7 more days' },
]

/** Replaces the secret of a key. The old one may work for a while, until every application has the new one. */
export function RotateDialog({ apiKey, onClose }: { apiKey: ApiKeyInfo; onClose: () => void }) {
  const queries = useQueryClient()
  const session = useSession()
  const [overlapSeconds, setOverlap] = useState(3_600)
  const rotate = useMutation({
    mutationFn: async () => {
      const rotated = await stet.apiKeys.rotate(apiKey.id, { overlapSeconds })
      // The session ends with the old secret, and its sheet would cover the new one.
      if (apiKey.id === session.apiKey.id) await signIn({ apiKey: rotated.key }).catch(() => undefined)
      return rotated
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: keysQuery.queryKey }),
  })
  if (rotate.data) return <SecretDialog name={rotate.data.name} secret={rotate.data.key} onClose={onClose} />
  return (
    <FormDialog
      title={`Rotate “${apiKey.name}”`}
      text="The key gets a new secret with the same rights."
      submit="Rotate"
      busy={rotate.isPending}
      onSubmit={() => rotate.mutate()}
      onClose={onClose}
    >
      <SelectField
        label="The old secret"
        value={overlapSeconds}
        onChange={({ target }) => setOverlap(Number(target.value))}
      >
        {overlaps.map(({ seconds, text }) => (
          <option key={seconds} value={seconds}>
            {text}
          </option>
        ))}
      </SelectField>
      {rotate.error && <Failure what="The key was not rotated" error={rotate.error} />}
    </FormDialog>
  )
}
