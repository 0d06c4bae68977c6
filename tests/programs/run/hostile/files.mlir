// Files that are no files of tensors, or not the ones that the kernel reads.
func @cut_0() -> !t.tensor {
  %path = tfrt_test.get_string {value = "cut.btf"}
  %i = tfrt.constant.i32 0
  %t = "btf.read_dense_tensor.i32.2"(%path, %i) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t : !t.tensor
}

func @empty_1() -> !t.tensor {
  %path = tfrt_test.get_string {value = "empty.btf"}
  %i = tfrt.constant.i32 0
  %t = "btf.read_dense_tensor.i32.2"(%path, %i) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t : !t.tensor
}

func @offset_2() -> !t.tensor {
  %path = tfrt_test.get_string {value = "offset.btf"}
  %i = tfrt.constant.i32 0
  %t = "btf.read_dense_tensor.i32.2"(%path, %i) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t : !t.tensor
}

func @rank_3() -> !t.tensor {
  %path = tfrt_test.get_string {value = "rank.btf"}
  %i = tfrt.constant.i32 0
  %t = "btf.read_dense_tensor.i32.2"(%path, %i) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t : !t.tensor
}

func @element_type_4() -> !t.tensor {
  %path = tfrt_test.get_string {value = "element_type.btf"}
  %i = tfrt.constant.i32 0
  %t = "btf.read_dense_tensor.i32.2"(%path, %i) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t : !t.tensor
}

func @layout_5() -> !t.tensor {
  %path = tfrt_test.get_string {value = "layout.btf"}
  %i = tfrt.constant.i32 0
  %t = "btf.read_dense_tensor.i32.2"(%path, %i) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t : !t.tensor
}

func @sizes_6() -> !t.tensor {
  %path = tfrt_test.get_string {value = "sizes.btf"}
  %i = tfrt.constant.i32 0
  %t = "btf.read_dense_tensor.i32.2"(%path, %i) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t : !t.tensor
}

func @one_size_7() -> !t.tensor {
  %path = tfrt_test.get_string {value = "one_size.btf"}
  %i = tfrt.constant.i32 0
  %t = "btf.read_dense_tensor.i32.2"(%path, %i) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t : !t.tensor
}

func @count_8() -> !t.tensor {
  %path = tfrt_test.get_string {value = "count.btf"}
  %i = tfrt.constant.i32 0
  %t = "btf.read_dense_tensor.i32.2"(%path, %i) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t : !t.tensor
}

func @coordinates_9() -> !t.tensor {
  %path = tfrt_test.get_string {value = "coordinates.btf"}
  %i = tfrt.constant.i32 1
  %t = "btf.read_coo_tensor.f32.2"(%path, %i) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t : !t.tensor
}

func @too_many_elements_10() -> !t.tensor {
  %path = tfrt_test.get_string {value = "too_many_elements.btf"}
  %i = tfrt.constant.i32 1
  %t = "btf.read_coo_tensor.f32.2"(%path, %i) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t : !t.tensor
}

func @good_11() -> !t.tensor {
  %path = tfrt_test.get_string {value = "good.btf"}
  %i = tfrt.constant.i32 2
  %t = "btf.read_dense_tensor.i32.2"(%path, %i) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t : !t.tensor
}

func @good_12() -> !t.tensor {
  %path = tfrt_test.get_string {value = "good.btf"}
  %i = tfrt.constant.i32 -1
  %t = "btf.read_dense_tensor.i32.2"(%path, %i) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t : !t.tensor
}

func @good_13() -> !t.tensor {
  %path = tfrt_test.get_string {value = "good.btf"}
  %i = tfrt.constant.i32 0
  %t = "btf.read_dense_tensor.f32.2"(%path, %i) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t : !t.tensor
}

func @good_14() -> !t.tensor {
  %path = tfrt_test.get_string {value = "good.btf"}
  %i = tfrt.constant.i32 0
  %t = "btf.read_dense_tensor.i32.3"(%path, %i) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t : !t.tensor
}

func @good_15() -> !t.tensor {
  %path = tfrt_test.get_string {value = "good.btf"}
  %i = tfrt.constant.i32 0
  %t = "btf.read_coo_tensor.i32.2"(%path, %i) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t : !t.tensor
}

func @good_16() -> !t.tensor {
  %path = tfrt_test.get_string {value = "good.btf"}
  %i = tfrt.constant.i32 1
  %t = "btf.read_dense_tensor.f32.2"(%path, %i) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t : !t.tensor
}

func @nowhere_17() -> !t.tensor {
  %path = tfrt_test.get_string {value = "nowhere.btf"}
  %i = tfrt.constant.i32 0
  %t = "btf.read_dense_tensor.i32.2"(%path, %i) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t : !t.tensor
}

func @a_folder() -> !t.tensor {
  %path = tfrt_test.get_string {value = "."}
  %i = tfrt.constant.i32 0
  %t = "btf.read_dense_tensor.i32.2"(%path, %i) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t : !t.tensor
}

func @no_ordinary_file() -> !t.tensor {
  %path = tfrt_test.get_string {value = "/dev/null"}
  %i = tfrt.constant.i32 0
  %t = "btf.read_dense_tensor.i32.2"(%path, %i) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t : !t.tensor
}
