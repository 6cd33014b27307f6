import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { versionsQuery } from '../../queries.ts'
import { stet, useSession } from '../../session.ts'
import { useProjectId } from '../place.ts'
import { NameDialog } from './name-dialog.tsx'

const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })

export default function NewDraft({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const { author } = useSession().apiKey
  const projectId = useProjectId()
  if (projectId === null) return null
  return (
    <NameDialog
      title="New draft"
      text="A draft starts with the live prompts. Nothing that you change in it is live until you publish it."
      action="Create draft"
      initial={`${author.name} · ${day.format(new Date())}`}
      onClose={onClose}
      onName={async (name) => {
        const { uuid } = await stet.versions.create(name, { projectId })
        await queryClient.invalidateQueries({ queryKey: versionsQuery(projectId).queryKey })
        await navigate({ to: '/p/$project/v/$version/prompts', params: { project: String(projectId), version: uuid } })
      }}
    />
  )
}
