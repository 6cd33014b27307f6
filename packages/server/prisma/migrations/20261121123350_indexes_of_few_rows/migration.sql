-- DropIndex
DROP INDEX "conversation_workspace_id_custom_identifier_idx";

-- DropIndex
DROP INDEX "run_status_owner_id_idx";

-- CreateIndex
CREATE INDEX "conversation_workspace_id_custom_identifier_idx" ON "conversation"("workspace_id", "custom_identifier") WHERE (custom_identifier IS NOT NULL);

-- CreateIndex
CREATE INDEX "run_status_owner_id_idx" ON "run"("status", "owner_id") WHERE (ended_at IS NULL);
