{{- define "stet.name" -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end -}}

{{- define "stet.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "stet.labels" -}}
{{ include "stet.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "stet.trustProxy" -}}
{{- if .Values.settings.STET_TRUST_PROXY -}}
{{ .Values.settings.STET_TRUST_PROXY }}
{{- else -}}
{{- if .Values.ingress.enabled -}}
1
{{- else -}}
0
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "stet.validate" -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) -}}
{{- fail "ingress.host must name the host of the ingress" -}}
{{- end -}}
{{- if not (or (eq .Values.mode "embedded") (eq .Values.mode "single") (eq .Values.mode "scaled")) -}}
{{- fail "mode must be embedded, single or scaled" -}}
{{- end -}}
{{- if and (ne .Values.mode "embedded") (not .Values.existingSecret) -}}
{{- fail "existingSecret must name a Secret with DATABASE_URL and STET_ENCRYPTION_KEY, and REDIS_URL in mode scaled" -}}
{{- end -}}
{{- end -}}
