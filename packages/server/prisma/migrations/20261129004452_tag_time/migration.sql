-- CreateIndex
CREATE INDEX "conversation_tag_project_id_at_idx" ON "conversation_tag"("project_id", "at");
