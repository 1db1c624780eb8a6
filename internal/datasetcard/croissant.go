package datasetcard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"manifest/export"
)

// ids of the nodes.
const (
	filesID  = "files"
	splitsID = "splits"
	rowsID   = "rows"
)

// jsonldContext is that of Croissant 1.1, with the vocabulary of provenance.
const jsonldContext = `{"@language":"en","@vocab":"https://schema.org/","arrayShape":"cr:arrayShape","citeAs":"cr:citeAs","column":"cr:column",` +
	`"conformsTo":"dct:conformsTo","containedIn":"cr:containedIn","cr":"http://mlcommons.org/croissant/","data":{"@id":"cr:data","@type":"@json"},` +
	`"dataType":{"@id":"cr:dataType","@type":"@vocab"},"dct":"http://purl.org/dc/terms/","description":{"@container":"@language"},` +
	`"equivalentProperty":"cr:equivalentProperty","examples":{"@id":"cr:examples","@type":"@json"},"extract":"cr:extract","field":"cr:field",` +
	`"fileObject":"cr:fileObject","fileProperty":"cr:fileProperty","fileSet":"cr:fileSet","format":"cr:format","includes":"cr:includes",` +
	`"isArray":"cr:isArray","isLiveDataset":"cr:isLiveDataset","jsonPath":"cr:jsonPath","key":"cr:key","md5":"cr:md5",` +
	`"name":{"@container":"@language"},"parentField":"cr:parentField","path":"cr:path","prov":"http://www.w3.org/ns/prov#",` +
	`"rai":"http://mlcommons.org/croissant/RAI/","recordSet":"cr:recordSet","references":"cr:references","regex":"cr:regex",` +
	`"repeated":"cr:repeated","replace":"cr:replace","samplingRate":"cr:samplingRate","sc":"https://schema.org/","separator":"cr:separator",` +
	`"source":"cr:source","subField":"cr:subField","transform":"cr:transform"}`

type node map[string]any

func ref(id string) node { return node{"@id": id} }

// Croissant makes croissant.json. schema is that of the files.
func Croissant(m export.Manifest, schema *arrow.Schema, info Info) ([]byte, error) {
	encoding, ok := map[export.Format]string{
		export.Parquet: "application/x-parquet", export.Arrow: "application/vnd.apache.arrow.file", export.CSV: "text/csv", export.JSONLines: "application/jsonlines",
	}[m.Format]
	if !ok {
		return nil, fmt.Errorf("describe a dataset of format %q: %w", m.Format, export.ErrSchema)
	}
	var distribution []node
	for _, f := range m.Files {
		distribution = append(distribution, node{
			"@type": "cr:FileObject", "@id": f.Path, "name": path.Base(f.Path), "contentUrl": f.Path,
			"contentSize": fmt.Sprintf("%d B", f.Bytes), "encodingFormat": encoding, "sha256": f.SHA256,
		})
	}
	splits := splitsOf(m)
	var patterns []string
	var names []node
	for _, s := range splits {
		patterns = append(patterns, s.pattern)
		names = append(names, node{splitsID + "/name": s.name, splitsID + "/rows": s.rows})
	}
	distribution = append(distribution, node{
		"@type": "cr:FileSet", "@id": filesID, "name": filesID, "description": "all data files", "encodingFormat": encoding, "includes": patterns,
	})
	root := node{
		"@context": json.RawMessage(jsonldContext), "@type": "sc:Dataset", "conformsTo": "http://mlcommons.org/croissant/1.1",
		"name": info.Name, "description": strings.ReplaceAll(summary(m), "`", ""),
		"version": "1.0.0", "datePublished": m.CreatedAt.UTC().Format("2006-01-02T15:04:05Z"),
		"isLiveDataset": false, "distribution": distribution,
		"recordSet": []node{
			{
				"@type": "cr:RecordSet", "@id": splitsID, "name": splitsID, "dataType": "cr:Split", "key": ref(splitsID + "/name"), "data": names,
				"field": []node{
					{"@type": "cr:Field", "@id": splitsID + "/name", "name": "name", "dataType": "sc:Text"},
					{"@type": "cr:Field", "@id": splitsID + "/rows", "name": "rows", "dataType": "sc:Integer"},
				},
			},
			{"@type": "cr:RecordSet", "@id": rowsID, "name": rowsID, "description": "the rows of all splits", "field": fields(schema, splits)},
		},
		"prov:wasDerivedFrom": node{"@type": "prov:Entity", "@id": source(m), "name": m.Source.Keyspace + "." + m.Source.Table},
		"prov:wasGeneratedBy": node{
			"@type": "prov:Activity", "@id": "urn:manifest:run:" + m.RunID, "name": m.Query.Text,
			"prov:startedAtTime": m.Window.Start.UTC().Format("2006-01-02T15:04:05Z"), "prov:endedAtTime": m.Window.End.UTC().Format("2006-01-02T15:04:05Z"),
			"prov:wasAssociatedWith": node{"@type": "prov:SoftwareAgent", "@id": "urn:manifest:tool", "name": "manifest " + m.ToolVersion},
		},
	}
	if info.License != "" {
		root["license"] = "https://spdx.org/licenses/" + info.License
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(root); err != nil {
		return nil, fmt.Errorf("write %s: %w", CroissantFile, err)
	}
	return b.Bytes(), nil
}

// source names the table that the rows are of.
func source(m export.Manifest) string {
	return "urn:cassandra:" + escape(m.Source.Cluster) + ":" + escape(m.Source.Keyspace) + "." + escape(m.Source.Table)
}

// escape makes a text part of a name.
func escape(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// splitField is the name of the field that tells the split by the file, where no
// column does.
const splitField = "split"

func fields(schema *arrow.Schema, splits []split) []node {
	var all []node
	if !schema.HasField(splitField) {
		pattern := "data/(.+)-[0-9]{5}-of-[0-9]{5}\\.[a-z]+$"
		if len(splits) == 1 && strings.Contains(splits[0].pattern, "/"+unsplit+"-") {
			pattern = ""
		}
		if pattern != "" {
			all = append(all, node{
				"@type": "cr:Field", "@id": rowsID + "/" + splitField, "name": splitField, "dataType": "sc:Text",
				"source":     node{"fileSet": ref(filesID), "extract": node{"fileProperty": "fullpath"}, "transform": node{"regex": pattern}},
				"references": node{"field": ref(splitsID + "/name")},
			})
		}
	}
	for _, f := range schema.Fields() {
		all = append(all, field(rowsID+"/"+escape(f.Name), f.Name, f.Type, f.Name, nil))
	}
	return all
}

// field describes a column, or what is in it: steps lead there from the column.
func field(id, name string, t arrow.DataType, column string, steps []string) node {
	source := node{"fileSet": ref(filesID), "extract": node{"column": column}}
	if len(steps) > 0 {
		source["transform"] = node{"jsonPath": strings.Join(steps, ".")}
	}
	n := node{"@type": "cr:Field", "@id": id, "name": name, "source": source}
	var shape []string
	for list, ok := t.(arrow.ListLikeType); ok; list, ok = t.(arrow.ListLikeType) {
		shape = append(shape, "-1") // of any length
		t = list.Elem()
	}
	if len(shape) > 0 {
		n["isArray"], n["arrayShape"] = true, strings.Join(shape, ",")
	}
	if nested, ok := t.(*arrow.StructType); ok {
		var children []node
		for _, f := range nested.Fields() {
			children = append(children, field(id+"/"+escape(f.Name), f.Name, f.Type, column, append(steps[:len(steps):len(steps)], step(f.Name))))
		}
		n["subField"] = children
		return n
	}
	n["dataType"] = dataType(t)
	return n
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// step is the name of a field in a JSONPath.
func step(name string) string {
	if identifier.MatchString(name) {
		return name
	}
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(name) + "'"
}

// dataType is the closest one that Croissant has.
func dataType(t arrow.DataType) string {
	switch t.ID() {
	case arrow.BOOL:
		return "sc:Boolean"
	case arrow.INT8:
		return "cr:Int8"
	case arrow.INT16:
		return "cr:Int16"
	case arrow.INT32:
		return "cr:Int32"
	case arrow.INT64:
		return "cr:Int64"
	case arrow.FLOAT32:
		return "cr:Float32"
	case arrow.FLOAT64:
		return "cr:Float64"
	case arrow.DATE32:
		return "sc:Date"
	case arrow.TIMESTAMP:
		return "sc:DateTime"
	case arrow.TIME32, arrow.TIME64:
		return "sc:Time"
	}
	return "sc:Text"
}

func jsonText(text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err) // a string always encodes
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
