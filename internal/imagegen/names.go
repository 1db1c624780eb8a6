package imagegen

import "fmt"

// tags in the order of how often they are used. Spelled out are the pairs that only careful code tells apart: leaf_spot and Leaf_Spot, the
// two ways of writing é, and a name with and without spaces around it.
var tags = []string{
	"leaf_spot", "healthy", "blurry", "night", "rust", "mildew", "aphid", "blight", "叶片病斑", "wilt",
	"🌿🐛", "👩‍🌾", "مرض الأوراق", "Leaf_Spot", "пятнистость", "caf\u00e9", "cafe\u0301", `it's "quoted"`, "a/b\\c", "../up",
	"one, two; three", "tab\tand\nline break", " wilt ", "NULL", "",
}

// devicePatterns give the names of devices in turn; %d is the device's number. Most are plain, as in a real fleet.
var devicePatterns = []string{
	"cam-%04d", "cam-%04d", "cam-%04d", "设备-%d", "cam-%04d", "cam-%04d", "камера %d", "cam-%04d", "cam-%04d", "📷-%d",
	"cam-%04d", "كاميرا-%d", "CAM-%04d", "cam-%04d", "greenhouse/7/../%d", "cam-%04d", `o'neil "north" %d`, "cam-%04d", "cam,%d\\x", "../cam-%d",
}

func deviceName(device int) string {
	return fmt.Sprintf(devicePatterns[device%len(devicePatterns)], device)
}

// regions belong to devices: a camera does not move.
var regions = []string{
	"region-0", "region-1", "region-2", "region-3", "region-4", "region-5", "华东", "Île-de-France", "North/East", "region-9", "منطقة", "region 11",
}

var weathers = []string{"sun", "rain", "fog", "雪", ""}

var stores = []string{"s3://img-prod", "s3://img-prod", "s3://img-prod", "s3://img-archive", "gs://bilder-münchen"}

// movedStore is where images lay before they moved, and where a drifted index row still says they are.
const movedStore = "s3://img-old"

// sizes in the order of how often they are used.
var sizes = [][2]int32{{1920, 1080}, {3840, 2160}, {1280, 720}, {4032, 3024}, {640, 480}, {3024, 4032}, {1, 1}, {12000, 9000}}

// Review statuses, as image_review_status.status holds them.
const (
	StatusPending  = "pending"
	StatusApproved = "approved"
	StatusRejected = "rejected"
	StatusDeleted  = "deleted"
)

var reviewers = []string{"ana", "bo", "李雷", "o'brien"}
