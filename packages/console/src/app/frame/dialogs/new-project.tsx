import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { projectsQuery } from '../../queries.ts'
import { stet } from '../../session.ts'
import { NameDialog } from './name-dialog.tsx'

export default function NewProject({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  return (
    <NameDialog
      title="New project"
      text="A project has its own prompts, drafts and live version. Programs name it by its id."
      action="Create project"
      onClose={onClose}
      onName={async (name) => {
        const { project, version } = await stet.projects.create(name)
        await queryClient.invalidateQueries({ queryKey: projectsQuery.queryKey })
        await navigate({
          to: '/p/$project/v/$version/prompts',
          params: { project: String(project.id), version: version.uuid },
        })
      }}
    />
  )
}
